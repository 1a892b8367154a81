"""Hangs of jobs in which one rank makes some calls in another order than the others, and that held up nobody.

Every case is (job, options of the writer, verdict expected), registered with `case` of dump_cases.
"""
from dump_cases import INNOCENT, case, fault
from flight_recorder_writer import Call, Job


def steps(world, odd, second, last=(), rounds=3):
    """Rounds of two calls, which `odd` makes in the other order, and a call at the end, which `last` lacks."""
    job = Job(world, {"aux": list(range(world))})
    for r in range(world):
        for _ in range(rounds):
            pair = [Call("0", "all_reduce", [100], 21, function="norms"), second()]
            job.calls[r] += reversed(pair) if r == odd else pair
        job.calls[r].append(Call("0", "all_reduce", [8], 25, blocks=True))
        if r not in last:
            job.calls[r].append(Call("0", "all_reduce", [7], 30, blocks=True))
    return job.run()


def on_another_communicator():
    return Call("aux", "all_reduce", [200], 22, function="stats")


def from_another_line():
    return Call("0", "all_reduce", [100], 22, function="stats")


@case(4, 8)
def two_communicators_in_another_order(world):
    return steps(world, 2, on_another_communicator), {}, INNOCENT


@case(4)
def two_communicators_in_another_order_and_a_rank_that_stops(world):
    return steps(world, 2, on_another_communicator, last=[3]), {}, fault("never_came", 3, line=30, trial=True)


@case(8)
def two_communicators_in_another_order_for_long(world):
    return steps(world, 6, on_another_communicator, last=[1], rounds=60), {}, fault("never_came", 1, line=30, trial=True)


@case(4, 16)
def two_lines_in_another_order(world):
    return steps(world, 1, from_another_line), {}, INNOCENT


@case(4, 16)
def two_lines_in_another_order_and_a_rank_that_stops(world):
    return steps(world, 1, from_another_line, last=[2]), {}, fault("never_came", 2, line=30, trial=True)


@case(8)
def two_lines_in_another_order_and_a_dead_rank(world):
    """The others wait in these calls; without a file of the dead rank, its calls are supplied."""
    job = Job(world)
    for r in range(world):
        for step in range(3):
            pair = [Call("0", "all_reduce", [5], 91), Call("0", "all_reduce", [5], 92)]
            job.calls[r] += reversed(pair) if r == 1 else pair
            if r == 4 and step == 1:
                break
            job.calls[r].append(Call("0", "all_reduce", [9], 95, blocks=True))
    job.dead = {4}
    return job.run(), {}, fault("no_record", 4, trial=True)


@case(4)
def two_communicators_in_another_order_and_a_layer_left_out(world):
    job = Job(world, {"aux": list(range(world))})
    for r in range(world):
        pair = [Call("0", "all_reduce", [50], 30), Call("aux", "all_reduce", [60], 31)]
        job.calls[r] += reversed(pair) if r == 3 else pair
        for line in (34, 35, 36, 37):
            if (r, line) != (1, 35):
                job.calls[r].append(Call("0", "all_reduce", [64, 64], line))
        job.calls[r].append(Call("0", "all_reduce", [64, 64], 40, blocks=True))
    return job.run(), {}, fault("left_out_call", 1, line=35, trial=True)


@case(4)
def prefetches_that_race_with_reductions(world):
    """As FSDP: the host issues gathers and reductions on two communicators in the order in which they become ready."""
    job = Job(world, {"gather": list(range(world)), "reduce": list(range(world))})
    for r in range(world):
        for step in range(3):
            for layer in range(4):
                pair = [Call("gather", "_all_gather_base", [64], 31, out=[64 * world]),
                        Call("reduce", "_reduce_scatter_base", [64 * world], 35, out=[64])]
                job.calls[r] += reversed(pair) if (3 * r + step + layer) % 4 == 0 else pair
            if (r, step) != (0, 2):
                job.calls[r].append(Call("0", "all_reduce", [1], 50, blocks=True))
    return job.run(), {}, fault("never_came", 0, line=50, trial=True)
