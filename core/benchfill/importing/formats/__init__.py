"""One module a format; each offers its instances as `FORMATS`."""
