"""Questions of GSM8K (MIT licence), and each in other words."""

from __future__ import annotations

from benchfill.items import Item

DUCKS = Item(
    id="ducks",
    question="Janet’s ducks lay 16 eggs per day. She eats three for breakfast every morning and "
    "bakes muffins for her friends every day with four. She sells the remainder at the farmers' "
    "market daily for $2 per fresh duck egg. How much in dollars does she make every day at the "
    "farmers' market?",
    answer="18",
)
ROBE = Item(
    id="robe",
    question="A robe takes 2 bolts of blue fiber and half that much white fiber.  How many bolts "
    "in total does it take?",
    answer="3",
)
SPRINTS = Item(
    id="sprints",
    question="James decides to run 3 sprints 3 times a week.  He runs 60 meters each sprint.  How "
    "many total meters does he run a week?",
    answer="540",
)
KNOWN = (DUCKS, ROBE, SPRINTS)
PARAPHRASES = {
    "ducks": "Every day Janet's ducks lay 16 eggs. Three of them she eats at breakfast, and four "
    "go into muffins for her friends. The rest she sells at the market for $2 an egg. How many "
    "dollars does she earn at the market each day?",
    "robe": "To make a robe you need 2 bolts of blue fibre and half as many bolts of white fibre. "
    "How many bolts are needed altogether?",
    "sprints": "Three times a week James runs 3 sprints of 60 meters each. How many meters is that "
    "in a week?",
}
