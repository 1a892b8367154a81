"""Hangs as people on call meet them, for dumps.py: training loops in which one rank, or two, take another path.

Every case is (job, options of the writer, verdict expected), registered with `case` of dump_cases.
"""
import pipeline_jobs as pipes
from dump_cases import INNOCENT, case, fault, layers
from flight_recorder_writer import Call, Job


def training(world, steps, step, groups=None):
    """A job of which every rank makes the calls of `step(rank, number)` in each step."""
    job = Job(world, groups)
    for number in range(steps):
        for r in range(world):
            job.calls[r] += step(r, number)
    return job


def reduce(line, size, group="0", blocks=False, **more):
    return Call(group, "all_reduce", [size], line, blocks=blocks, **more)


def buckets(count=3, first_line=30):
    """DDP: a bucket of gradients per all_reduce, all from one line; the loss is read at the end of the step."""
    return [reduce(first_line, 1000 + n, function="backward") for n in range(count)]


def ddp_step(*_):
    return [*buckets(), reduce(50, 1, blocks=True, function="log_loss")]


# ---- FSDP

def fsdp_step(world, order=(3, 2, 1), size=lambda n: 100 * n):
    """Gathers on the way forward, gathers ahead and reduce_scatters on the way back."""
    out = [Call("0", "_all_gather_base", [size(n)], 99, out=[size(n) * world], function="unshard") for n in (1, 2, 3)]
    for n in order:
        out += [Call("0", "_all_gather_base", [size(n)], 120, out=[size(n) * world], function="prefetch"),
                Call("0", "_reduce_scatter_base", [size(n) * world], 140, out=[size(n)], function="post_backward")]
    return [*out, reduce(150, 1, blocks=True, function="clip_grad_norm")]


@case(3, 8)
def prefetch_in_another_order(world):
    """One rank gathers the layers ahead in another order; the gathers themselves are right."""
    odd = world - 2
    def step(r, number):
        calls = fsdp_step(world)
        if (r, number) == (odd, 1):
            calls[3], calls[5] = calls[5], calls[3]
        return calls
    return training(world, 3, step).run(), {}, fault("swapped_calls", odd, line=120, trial=True)


@case(4)
def unsharded_gradients_of_one_rank(world):
    """Rank 2 keeps its gradients in f32 where the others reduce them in bf16."""
    def step(r, number):
        calls = fsdp_step(world)
        for c in calls:
            if c.kind == "_reduce_scatter_base":
                c.dtype = "Float" if (r, number) == (2, 1) else "BFloat16"
        return calls
    return training(world, 3, step).run(), {}, fault("collective_mismatch", 2, line=140, says="bf16", trial=True)


@case(4, 8)
def evaluation_on_the_first_rank_only(world):
    """`if rank == 0: evaluate()`: its forward gathers the parameters, which takes all ranks."""
    def step(r, number):
        more = [Call("0", "_all_gather_base", [100 * n], 99, out=[100 * n * world], function="evaluate") for n in (1, 2, 3)]
        more.append(Call("0", "all_reduce", [7], 55, blocks=True, function="evaluate"))
        return fsdp_step(world) + (more if (r, number) == (0, 1) else [])
    said = fault("collective_mismatch", 0, line=99, says="so rank 0 made 4 calls too many, or left the loop early", trial=True)
    return training(world, 3, step).run(), {}, said


# ---- DDP

@case(3, 6)
def a_bucket_without_gradients(world):
    """A branch of the model is not used on rank 1, so one bucket is never reduced."""
    def step(r, number):
        calls = ddp_step()
        return calls[:1] + calls[2:] if (r, number) == (1, 1) else calls
    return training(world, 3, step).run(), {}, fault("left_out_call", 1, line=30, trial=True)


@case(4)
def buckets_in_another_order(world):
    def step(r, number):
        calls = ddp_step()
        return [calls[1], calls[0], *calls[2:]] if r == 3 and number == 1 else calls
    return training(world, 3, step).run(), {}, fault("swapped_calls", 3, line=30, trial=True)


@case(4)
def accumulation_forgotten_on_one_rank(world):
    """All but rank 2 reduce gradients in every second step only."""
    def step(r, number):
        sync = number % 2 == 1 or (r == 2 and number == 2)
        return [*(buckets() if sync else []), reduce(50, 1, blocks=True, function="log_loss")]
    return training(world, 5, step).run(), {}, fault("extra_call", 2, line=30, trial=True)


@case(3, 4)
def one_step_less_and_the_end(world):
    """The last rank's data ends a step early; it leaves the loop and calls nothing more."""
    last = world - 1
    def step(r, number):
        return ddp_step() if (r, number) != (last, 3) else []
    return training(world, 4, step).run(), {}, fault("never_came", last, line=30, trial=True)


@case(3, 4)
def one_step_less_and_the_evaluation(world):
    """The last rank's data ends a step early; it goes on to the evaluation."""
    last = world - 1
    def step(r, number):
        return ddp_step() if (r, number) != (last, 3) else []
    job = training(world, 4, step)
    job.all_reduce(70, size=(9,), blocks=True, function="evaluate")
    return job.run(), {}, {"fault": True, "culprits": [last], "line": 70, "trial": True}


@case(4)
def one_step_less_where_every_call_blocks(world):
    def step(r, number):
        if (r, number) == (1, 3):
            return []
        return [reduce(30, 1000, blocks=True), reduce(50, 1, blocks=True)]
    job = training(world, 4, step)
    job.all_reduce(70, size=(9,), blocks=True, function="evaluate")
    return job.run(), {}, {"fault": True, "culprits": [1], "line": 70, "trial": True}


@case(4)
def stops_early_by_its_own_loss(world):
    def step(r, number):
        return ddp_step() if r != 0 or number < 2 else []
    return training(world, 4, step).run(), {}, fault("never_came", 0, line=30, trial=True)


# ---- a condition on the rank

@case(3, 4, 8)
def all_reduce_on_the_first_rank_only(world):
    """`if rank == 0: dist.all_reduce(metrics)` in the second step; every call blocks."""
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), reduce(24, 256, blocks=True)]
        return calls + ([reduce(35, 5, blocks=True, function="log_metrics")] if (r, number) == (0, 1) else [])
    said = fault("collective_mismatch", 0, line=35, says="so rank 0 made one call too many, made another call than they did, or left the loop early", trial=True)
    return training(world, 3, step).run(), {}, said


@case(4)
def all_reduce_on_the_first_rank_only_of_the_same_size(world):
    def step(r, number):
        calls = [reduce(20, 256), reduce(24, 256, blocks=True)]
        return calls + ([reduce(35, 256, function="log_metrics")] if (r, number) == (0, 1) else [])
    return training(world, 3, step).run(), {}, fault("extra_call", 0, line=35, trial=True)


def barrier(line, group="0", **more):
    return Call(group, "all_reduce_barrier", [1], line, blocks=True, **more)


@case(3, 4, 8)
def barrier_left_out(world):
    """Every call blocks: the rank without the barrier waits in the next step's first call, at another line."""
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), reduce(24, 256, blocks=True), barrier(60)]
        return calls[:2] if (r, number) == (1, 1) else calls
    return training(world, 3, step).run(), {}, fault("left_out_call", 1, line=60, says="left out barrier", trial=True)


@case(4)
def barrier_left_out_in_the_first_step(world):
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), barrier(60), reduce(64, 256, blocks=True)]
        return calls[:1] + calls[2:] if (r, number) == (1, 0) else calls
    return training(world, 2, step).run(), {}, fault("left_out_call", 1, line=60, trial=True)


def two_axes(world, width=2):
    groups = {f"tp{d}": list(range(d * width, (d + 1) * width)) for d in range(world // width)}
    groups |= {f"dp{t}": list(range(t, world, width)) for t in range(width)}
    return groups


@case(4, 8)
def barrier_of_another_group(world):
    """Rank 2 waits for its data parallel group where all others wait for all."""
    def step(r, number):
        wrong = (r, number) == (2, 1)
        return [reduce(20, 4096, f"tp{r // 2}", blocks=True), reduce(40, 999, f"dp{r % 2}", blocks=True),
                barrier(60, "dp0" if wrong else "0")]
    said = fault("wrong_group", 2, line=60, says="rank 2 calls barrier seq", trial=True)
    return training(world, 3, step, two_axes(world)).run(), {}, said


def on_another_group(job, right, wrong, blocks):
    """Rank 2 makes one call, from the others' line, on another group; then all go on in the group of all."""
    for r in range(job.world):
        job.calls[r] += [reduce(33, 64, wrong if r == 2 else right(r), blocks), *(reduce(12, 4096, blocks=blocks) for _ in range(2))]
    return layers(job, [70]).run()


@case(4)
def wrong_one_of_two_groups_of_all(world):
    job = layers(Job(world, {"3": list(range(world))}), [10])
    return on_another_group(job, lambda r: "3", "0", False), {}, fault(
        "wrong_group", 2, line=33, trial=True, says="rank 2 calls all_reduce f32[64] seq 2 on default_pg at ", never_says="also",
        trial_says="with all_reduce seq 1 on group 3 in its place on rank 2 the program completes")


@case(4, 8)
def subgroup_instead_of_all(world):
    job = layers(Job(world, two_axes(world)), [10])
    return on_another_group(job, lambda r: "0", "dp0", True), {}, fault(
        "wrong_group", 2, line=33, trial=True, says="where the others call it on default_pg; ranks 0, 1, 3")


@case(4, 8)
def all_instead_of_a_subgroup(world):
    job = layers(Job(world, two_axes(world)), [10])
    return on_another_group(job, lambda r: f"dp{r % 2}", "0", False), {}, fault(
        "wrong_group", 2, line=33, trial=True, says="where the others call it on group dp0; rank", never_says="also")


def mesh_step(r, blocks=False):
    return [reduce(31, 512, f"tp{r // 2}", blocks), reduce(61, 24, f"dp{r % 2}"), reduce(82, 9, f"dp{r % 2}"), reduce(80, 1)]


@case(4)
def order_of_two_groups_and_a_file_missing(world):
    """Rank 3, which would wait in the group of rank 1, has no file; rank 1 leaves the order of its own earlier rounds."""
    def step(r, number):
        calls = mesh_step(r)
        return [*calls[:2], calls[3], calls[2]] if (r, number) == (1, 2) else calls
    said = fault("order", 1, line=80, says="rank 3, which left no record, would explain the hang as well", trial=True,
                 trial_says="with all_reduce seq 6 on group dp1 before all_reduce seq 3 on default_pg on rank 1 the program completes")
    job = training(world, 3, step, two_axes(world)).run()
    for c in (job.issued[0][-1], job.issued[2][-1], *job.issued[1][-2:]):  # the device runs a rank's calls in order
        c.state, c.done = "scheduled", None
    return job, {"missing": (3,)}, said


def order_of_two_ranks(world, blocks, trial_says):
    """Two ranks disagree about the order, so that rank 2, whatever it did, is not the whole cause."""
    def step(r, number):
        pair = [reduce(82, 9, "1", blocks=blocks), reduce(80, 1, blocks=blocks)]
        return pair[::-1] if r == 1 else pair
    job = training(world, 1, step, {"1": list(range(world))}).run()
    for c in job.issued[0] + job.issued[1]:
        c.state, c.done = "scheduled", None
    return job, {"missing": (2,)}, {"fault": True, "culprits": [], "suspects": [0, 1, 2], "never_says": "may have made the call",
                                    "says": "this does not explain the whole hang", "trial_says": trial_says}


@case(3)
def order_of_two_ranks_and_a_file_missing(world):
    return order_of_two_ranks(world, False, "rank 2 never came to all_reduce f32[9] seq 1 on group 1, in which rank 0 waits at ")


@case(3)
def order_of_two_ranks_that_block_and_a_file_missing(world):
    return order_of_two_ranks(world, True, "ranks 1, 2 never came to all_reduce f32[9] seq 1 on group 1, in which rank 0 waits at ")


@case(8)
def one_call_twice_that_blocks(world):
    """Rank 4 waits in the second one: that it left out the rest of its round looks alike."""
    def step(r, number):
        calls = mesh_step(r, True)
        calls[-1].blocks = True
        return [reduce(31, 512, f"tp{r // 2}", True), *calls] if (r, number) == (4, 2) else calls
    said = fault("extra_call", 4, line=31, says="; or it left out all_reduce f32[24] seq 5 on group dp0 at ", trial=True)
    return training(world, 3, step, two_axes(world)).run(), {}, said


@case(8)
def two_faults_on_ranks_of_different_groups(world):
    """Each rank's repair names its own group."""
    def step(r, number):
        calls = mesh_step(r, True)
        if (r, number) == (4, 2):
            calls[1].dtype = "BFloat16"
        return calls[:0] if (r, number) == (1, 2) else calls
    said = fault("collective_mismatch", 1, 4, trial=True,
                 trial_says="with all_reduce f32[24] on rank 4 and with this call on rank 1, and then 3 more calls on rank 1 that others wait for,")
    return training(world, 3, step, two_axes(world)).run(), {}, said


@case(4)
def one_line_calls_on_both_groups(world):
    """A helper calls on each group from one line; rank 2 leaves out the first call, which is no wrong group."""
    job = layers(Job(world, two_axes(world)), [10])
    for step in range(3):
        for r in range(world):
            pair = [reduce(33, 64, group, blocks=True) for group in (f"tp{r // 2}", f"dp{r % 2}")]
            job.calls[r] += pair[1:] if (r, step) == (2, 2) else pair
    return layers(job, [70]).run(), {}, {"fault": True, "culprits": [2], "trial": True, "never_says": "where the others call it on"}


@case(8)
def checkpoint_gathered_on_some_ranks(world):
    """Ranks 0 and 1 gather a state to save; the others go on."""
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), reduce(24, 256, blocks=True)]
        saves = number == 1 and r < 2
        return calls + ([Call("0", "gather", [77], 66, out=[[77]] * world if r == 0 else [], blocks=True,
                              function="save_checkpoint")] if saves else [])
    said = fault("collective_mismatch", 0, 1, line=66, says="so ranks 0, 1 made one call too many, made another call", trial=True)
    return training(world, 3, step).run(), {}, said


@case(8)
def checkpoint_not_gathered_on_one_rank(world):
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), reduce(24, 256, blocks=True)]
        saves = number % 2 == 1 and (r, number) != (6, 3)
        return calls + ([Call("0", "_all_gather_base", [77], 66, out=[77 * world], blocks=True,
                              function="save_checkpoint")] if saves else [])
    return training(world, 6, step).run(), {}, fault("left_out_call", 6, line=66, trial=True)


# ---- exceptions, deaths, lost records

@case(4)
def exception_handled_by_a_call_of_its_own(world):
    """Rank 3 raised; its handler tells the others, who know nothing of it."""
    def step(r, number):
        calls = [reduce(20, 4096, blocks=True), reduce(24, 256, blocks=True)]
        return [calls[0], reduce(95, 1, blocks=True, function="on_error")] if (r, number) == (3, 2) else calls
    job = training(world, 3, step)
    return job.run(), {}, {"fault": True, "culprits": [3], "line": 95, "trial": True}


@case(3, 8)
def exception_and_gone(world):
    """Rank 1 raised in its second step and left without a dump."""
    job = training(world, 4, ddp_step)
    job.calls[1] = job.calls[1][:5]
    job.run().dead = {1}
    return job, {}, fault("no_record", 1, line=30, trial=True)


@case(8)
def exception_and_gone_among_groups(world):
    """Rank 5 left; its tensor parallel partner waits for it, all others wait in calls further on."""
    def step(r, number):
        return [reduce(20, 128, f"tp{r // 2}", blocks=True), reduce(40, 999, f"dp{r % 2}", blocks=True), barrier(60)]
    job = training(world, 12, step, two_axes(world))
    job.calls[5] = job.calls[5][:30]
    job.run().dead = {5}
    return job, {"ring": 9}, fault("no_record", 5, trial=True)


@case(4)
def rings_of_other_lengths(world):
    """Rank 2 makes more calls per step, so its ring begins later than those of the others."""
    groups = {"pair": [1, 2]}
    job = Job(world, groups)
    for number in range(30):
        for r in range(world):
            job.calls[r] += ddp_step()
            if r in (1, 2):
                job.calls[r] += [reduce(80, 5, "pair"), reduce(81, 6, "pair")]
    at = [i for i, c in enumerate(job.calls[2]) if c.line == 30][-5]
    del job.calls[2][at]
    return job.run(), {"ring": 40}, fault("left_out_call", 2, line=30, trial=True)


@case(4)
def two_files_are_missing(world):
    job = training(world, 3, ddp_step)
    job.calls[3] = job.calls[3][:9]
    return job.run(), {"missing": (1, 2)}, {"fault": True, "culprits": [3], "kind": "never_came"}


def logging_pair(world, steps):
    """Ranks 0 and 1 add up their logs after the last call that all make in a step."""
    def step(r, number):
        log = [reduce(70, 5, "log", function="log_pair")] if r < 2 else []
        return [reduce(20, 64), reduce(24, 128), reduce(50, 1, blocks=True), *log]
    return training(world, steps, step, {"log": [0, 1]})


@case(4, 6)
def dead_rank_of_a_pair_that_ends_its_rounds(world):
    """The first round of rank 0 lacks the call with which, by the calls of all, its later rounds begin."""
    job = logging_pair(world, 3)
    job.calls[1] = job.calls[1][:10]
    job.run().dead = {1}
    return job, {}, fault("no_record", 1, trial=True)


@case(4, 6)
def left_out_in_a_pair_that_ends_its_rounds(world):
    """The other rank of the pair waits; ranks that never log know nothing of it."""
    job = logging_pair(world, 4)
    job.calls[0] = [c for i, c in enumerate(job.calls[0]) if i != 11]
    for r in (0, 1):
        for c in job.calls[r]:
            c.blocks = True
    return job.run(), {}, {"fault": True, "culprits": [0], "line": 70}


# ---- MoE

def experts_step(world, splits):
    def step(r, number):
        there, back = [[n] for n in splits[r]], [[splits[q][r]] for q in range(world)]
        return [Call("0", "all_to_all", [world], 60, agree=("counts", number)),
                Call("0", "all_to_all", there, 61, out=back, agree=("tokens", number)),
                Call("0", "all_to_all", back, 62, out=there, agree=("back", number)), reduce(63, 77, blocks=True)]
    return step


@case(4, 8)
def tokens_that_one_rank_does_not_expect(world):
    """Rank 2 sends rank 0 two tokens more than rank 0 expects: which of them is wrong is not recorded."""
    splits = [[16 + (3 * r + 5 * q) % 7 for q in range(world)] for r in range(world)]
    job = training(world, 2, experts_step(world, splits))
    wrong = job.calls[2][5]
    wrong.inputs = [[n + 2 * (q == 0)] for q, n in enumerate(splits[2])]
    wrong.agree = "wrong"
    return job.run(), {}, fault("block_mismatch", suspects=[0, 2], line=61)


@case(4)
def capacity_of_one_rank(world):
    """Rank 1 drops tokens over its capacity: it sends less to all."""
    splits = [[16 + (3 * r + 5 * q) % 7 for q in range(world)] for r in range(world)]
    job = training(world, 2, experts_step(world, splits))
    wrong = job.calls[1][5]
    wrong.inputs, wrong.agree = [[8]] * world, "wrong"
    return job.run(), {}, fault("block_mismatch", 1, line=61, trial=True)


# ---- sends and recvs

@case(6)
def one_pair_sends_first_on_both_sides(world):
    """Even ranks send first, odd ranks receive first, but for rank 3."""
    def step(r, number):
        peer = r ^ 1
        pair = [Call("0", "send", [16], 70, peer=peer, blocks=True), Call("0", "recv", [16], 71, peer=peer, blocks=True)]
        first = r % 2 == 0 or (r, number) == (3, 1)
        return [*(pair if first else pair[::-1]), reduce(72, 8, blocks=True)]
    return training(world, 3, step).run(), {}, {"fault": True, "culprits": [3], "line": 70, "trial": True}


@case(4)
def broadcast_of_two_roots(world):
    """The dump has no roots: all members are in the call and it does not end. Nobody can be accused."""
    job = layers(Job(world), [10])
    job.each(range(world), lambda r: Call("0", "broadcast", [8], 12 if r != 2 else 14, agree=(r == 2,)))
    return job.run(), {}, {**INNOCENT, "says": "root"}


def neighbours(world, steps, ring=False):
    """Every rank exchanges borders with those beside it in one launch; then all reduce a residual."""
    job = Job(world)
    for step in range(steps):
        for r in range(world):
            for n in ((r - 1) % world, (r + 1) % world) if ring else (r - 1, r + 1):
                if 0 <= n < world:
                    job.calls[r] += [Call("0", "send", [16], 90, peer=n, batch=f"{r}.{step}", blocks=True),
                                     Call("0", "recv", [16], 91, peer=n, batch=f"{r}.{step}", blocks=True)]
            job.calls[r].append(reduce(95, 5, blocks=True))
    return job


@case(4)
def border_sent_past_the_neighbour(world):
    """In the first step rank 3 sends to rank 0, which goes on to the call of all."""
    job = neighbours(world, 3)
    job.calls[3][0].peer = 0
    return job.run(), {}, fault("wrong_peer", 3, line=90, trial=True)


@case(3)
def stopped_before_its_first_exchange(world):
    """All others of the ring wait for rank 2: it is not that they name the wrong rank."""
    job = neighbours(world, 1, ring=True)
    job.calls[2] = []
    return job.run(), {}, fault("never_came", 2)


@case(3)
def reduced_on_one_rank_more(world):
    """Its call meets the residual of the others, and theirs comes a step later."""
    job = neighbours(world, 2)
    job.calls[0].insert(2, reduce(200, 5, function="log_metrics"))
    return job.run(), {}, {"fault": True, "culprits": [0], "line": 200, "trial": True}


@case(2)
def one_call_more_of_two_ranks(world):
    """Either rank 0 stopped, or rank 1 repeats the last call: in the step before it did not."""
    def step(r, number):
        calls = [reduce(20, 64, blocks=True), reduce(24, 64, blocks=True), reduce(28, 1, blocks=True)]
        return calls + ([reduce(28, 1, blocks=True)] if (r, number) == (1, 1) else [])
    return training(world, 2, step).run(), {}, fault("never_came", suspects=[0, 1], line=28)


@case(16)
def gradients_reduced_on_the_group_of_the_pipeline(world):
    """Rank 5 calls the line on its pipeline's group; the others, on those of their data parallel ranks."""
    layout = pipes.Layout("1f1b", 2, 8, batches=2)
    job = pipes.build(layout)
    call = next(c for c in job.calls[5] if c.line == pipes.DATA)
    call.group = "pp0"
    return job.run(), {}, {"fault": True, "culprits": [5], "line": pipes.DATA, "trial": True}


# ---- two ranks at once

@case(4, 6)
def two_ranks_leave_out_different_calls(world):
    job = Job(world)
    for line in (10, 11, 12, 13, 14, 15):
        job.all_reduce(line, ranks=[r for r in range(world) if (r, line) not in ((1, 11), (2, 13))])
    return job.run(), {}, fault("left_out_call", 1, 2, line=13, trial=True)


@case(5, 8)
def two_ranks_leave_out_calls_of_different_sizes(world):
    job = Job(world)
    for line in (10, 11, 12, 13, 14, 15):
        job.all_reduce(line, size=(line,), ranks=[r for r in range(world) if (r, line) not in ((1, 11), (3, 13))])
    return job.run(), {}, fault("left_out_call", 1, 3, line=13, trial=True)


@case(6)
def one_leaves_out_a_call_and_another_makes_one_more(world):
    job = Job(world)
    for line in (10, 11, 12, 13, 14, 15):
        job.all_reduce(line, ranks=[r for r in range(world) if (r, line) != (1, 11)])
        if line == 12:
            job.calls[4].append(Call("0", "all_reduce", [64, 64], 33))
    job.all_reduce(16, size=(7,))
    return job.run(), {}, {"fault": True, "culprits": [1, 4], "line": 33, "trial": True}


@case(6)
def one_leaves_out_a_call_and_another_dies(world):
    job = layers(Job(world), [10, 11, 12, 13, 14], but=(1, 12))
    job.calls[4] = job.calls[4][:4]
    job.run().dead = {4}
    return job, {}, fault("left_out_call", 1, line=12, not_known="rank 4", trial=True)


# ---- jobs that are well

@case(4)
def fsdp_healthy(world):
    return training(world, 3, lambda *_: fsdp_step(world)).run(), {}, INNOCENT


@case(8)
def barriers_healthy(world):
    def step(r, number):
        return [reduce(20, 4096, f"tp{r // 2}", blocks=True), reduce(40, 999, f"dp{r % 2}", blocks=True), barrier(60)]
    return training(world, 3, step, two_axes(world)).run(), {}, INNOCENT


@case(4)
def experts_in_flight(world):
    splits = [[16 + (3 * r + 5 * q) % 7 for q in range(world)] for r in range(world)]
    job = training(world, 2, experts_step(world, splits)).run()
    for r in range(world):
        for c in job.issued[r][-2:]:
            c.state, c.done = "scheduled", None
    return job, {}, INNOCENT
