"""What the jobs of dumps.py and hang_jobs.py share: the list of cases, and the verdicts that they expect."""

CASES = []  # (name, make, ranks)


def case(*worlds):
    """Registers a function that makes (job, writer options, expected verdict), for each number of ranks."""
    def add(make):
        for world in worlds:
            CASES.append((f"{make.__name__}_w{world}", make, world))
        return make
    return add


def layers(job, lines, but=None, group="0", **more):
    """One all_reduce per line on every member; `but` = (rank, line) omits that call."""
    for line in lines:
        job.all_reduce(line, group=group, ranks=[r for r in job.groups[group] if (r, line) != but], **more)
    return job


def fault(kind, *culprits, **more):
    return {"fault": True, "kind": kind, "culprits": sorted(culprits), **more}


INNOCENT = {"fault": False, "culprits": []}
