"""What a program in the sandbox may use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

MB = 1024 * 1024


class Limits(BaseModel):
    """Bounds of one run; whoever exceeds one is stopped, and has failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(20.0, gt=0, le=300, description="wall time, start included")
    cpu_seconds: int = Field(10, ge=1, le=300, description="CPU time of each process")
    memory_mb: int = Field(
        512, ge=64, le=16_384, description="address space of each process, and memory of all"
    )
    processes: int = Field(16, ge=1, le=256, description="processes and threads at a time")
    disk_mb: int = Field(16, ge=1, le=1024, description="its temporary folder, which is memory")
    files: int = Field(1000, ge=1, le=100_000, description="in that folder, about")
    open_files: int = Field(64, ge=16, le=1024)
    output_kb: int = Field(256, ge=1, le=10_240, description="standard output and error together")
