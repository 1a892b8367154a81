"""Pipeline parallel jobs for flight_recorder_writer, and the mistakes to plant into them.

`Layout` names a schedule and a mesh of (data, stages, width) ranks. `build` makes the calls of some training steps;
`plant` changes the calls of one rank in one step. Every call carries `step`, so that a mistake has a place to name.
"""
import copy

from flight_recorder_writer import START_NS, Call, Job

RECV_F, SEND_F, RECV_B, SEND_B, TENSOR, DATA, WORLD = 101, 102, 103, 104, 20, 40, 50


class Layout:
    """`schedule`: gpipe (blocking sends and recvs), 1f1b (send and recv of opposite directions share a launch),
    gpipe_batched (every send and recv is a launch of its own), interleaved (two chunks per rank, a ring)."""

    def __init__(self, schedule, data=1, stages=4, width=1, batches=4, steps=3, world_end=True):
        self.schedule, self.data, self.stages, self.width = schedule, data, stages, width
        self.batches, self.steps, self.world_end = batches, steps, world_end

    def __str__(self):
        mesh = f"{self.data}x{self.stages}x{self.width}"
        return f"{self.schedule} {mesh} {self.steps} steps{'' if self.world_end else ', no call of all'}"

    @property
    def world(self):
        return self.data * self.stages * self.width

    def rank(self, d, s, t):
        return (d * self.stages + s) * self.width + t


def _launches(schedule, s, stages, batches):
    """Launches of stage `s`: lists of (line, kind, stage of the peer)."""
    last = stages - 1
    recv_f = [(RECV_F, "recv", s - 1)] if s > 0 else []
    send_f = [(SEND_F, "send", s + 1)] if s < last else []
    recv_b = [(RECV_B, "recv", s + 1)] if s < last else []
    send_b = [(SEND_B, "send", s - 1)] if s > 0 else []
    if schedule in ("gpipe", "gpipe_batched"):
        steps = [part for _ in range(batches) for part in (recv_f, send_f)]
        steps += [part for _ in range(batches) for part in (recv_b, send_b)]
        return [step for step in steps if step]
    if schedule == "1f1b":
        warm = min(last - s, batches)
        rest = batches - warm
        steps = [part for _ in range(warm) for part in (recv_f, send_f)]
        if rest:
            steps.append(recv_f)
        for i in range(rest):
            steps += [send_f + recv_b, send_b if i == rest - 1 else send_b + recv_f]
        steps += [part for _ in range(warm) for part in (recv_b, send_b)]
        return [step for step in steps if step]
    if schedule == "interleaved":
        return _ring(s, stages, batches)
    raise ValueError(schedule)


def _ring(s, stages, batches):
    """Two chunks per rank: virtual stages s and s + stages. Micro-batches go through all first chunks, then all second
    ones, and back; the last rank sends to the first. Sends do not wait for their recvs within a chunk."""
    left, right = (s - 1) % stages, (s + 1) % stages
    out = []
    for chunk in (0, 1):
        for _ in range(batches):
            if (chunk, s) != (0, 0):
                out.append([(RECV_F, "recv", left)])
            if (chunk, s) != (1, stages - 1):
                out.append([(SEND_F, "send", right)])
    for chunk in (1, 0):
        for _ in range(batches):
            if (chunk, s) != (1, stages - 1):
                out.append([(RECV_B, "recv", right)])
            if (chunk, s) != (0, 0):
                out.append([(SEND_B, "send", left)])
    return out


def build(layout):
    """The job before it runs; `calls[r][i].step` is the training step of a call."""
    stages, width = layout.stages, layout.width
    groups = {}
    pipes = [[layout.rank(d, s, t) for s in range(stages)] for d in range(layout.data) for t in range(width)]
    if width > 1:
        groups |= {f"tp{r // width}": list(range(r, r + width)) for r in range(0, layout.world, width)}
    single = layout.data == 1 and width == 1
    if not single:
        groups |= {f"pp{i}": line for i, line in enumerate(pipes)}
    if layout.data > 1:
        groups |= {f"dp{s}.{t}": [layout.rank(d, s, t) for d in range(layout.data)]
                   for s in range(stages) for t in range(width)}
    job = Job(layout.world, groups)
    for step in range(layout.steps):
        for i, pipe in enumerate(pipes):
            group = "0" if single else f"pp{i}"
            for s, r in enumerate(pipe):
                _stage(job, layout, step, group, pipe, s, r)
        for name, members in groups.items():
            if name.startswith("dp"):
                for r in members:
                    _add(job, r, Call(name, "all_reduce", [999], DATA, blocks=True), step)
        if layout.world_end:
            for r in range(layout.world):
                _add(job, r, Call("0", "all_reduce", [1], WORLD, blocks=True), step)
    return job


def _add(job, r, call, step):
    call.step = step
    job.calls[r].append(call)


def _stage(job, layout, step, group, pipe, s, r):
    batched = layout.schedule != "gpipe"
    blocks = layout.schedule != "interleaved"
    for n, launch in enumerate(_launches(layout.schedule, s, layout.stages, layout.batches)):
        batch = f"{step}.{group}.{r}.{n}" if batched and (len(launch) > 1 or layout.schedule == "gpipe_batched") else None
        for line, kind, peer in launch:
            call = Call(group, kind, [32, 8], line, peer=pipe[peer], batch=batch, blocks=blocks or kind == "recv")
            _add(job, r, call, step)
        if layout.width > 1 and len(launch) == 1 and launch[0][1] == "recv":
            _add(job, r, Call(f"tp{r // layout.width}", "all_reduce", [128], TENSOR + launch[0][0] % 10, blocks=True), step)


def launch_of(job, rank, at):
    """The half-open range of the calls issued together with call `at`."""
    calls = job.calls[rank]
    begin = end = at
    while begin > 0 and calls[at].batch is not None and calls[begin - 1].batch == calls[at].batch:
        begin -= 1
    while end + 1 < len(calls) and calls[at].batch is not None and calls[end + 1].batch == calls[at].batch:
        end += 1
    return begin, end + 1


def plant(job, mistake, rank, at):
    """Changes call `at` of `rank`; returns False if the mistake has no meaning there."""
    calls = job.calls[rank]
    begin, end = launch_of(job, rank, at)
    if mistake == "left_out":
        del calls[at]
    elif mistake == "doubled":
        again = copy.copy(calls[at])
        again.batch = None
        calls.insert(end, again)
    elif mistake == "swapped":
        if end >= len(calls):
            return False
        following = launch_of(job, rank, end)
        one, two = calls[begin:end], calls[end:following[1]]
        if [(c.kind, c.line, c.peer) for c in one] == [(c.kind, c.line, c.peer) for c in two]:
            return False
        calls[begin:following[1]] = two + one
    elif mistake == "wrong_size":
        calls[at].inputs = calls[at].outputs = [[33, 8]]
    elif mistake == "skipped_step":
        job.calls[rank] = [c for c in calls if c.step != calls[at].step]
    elif mistake in ("stopped", "dead", "slow"):
        del calls[begin:]
    else:
        raise ValueError(mistake)
    return True


def run_ahead(job, step_ns=100000):
    """After `run`: the hosts, which do not block, issue the rest of their step; on the devices these calls wait."""
    for issued, calls in zip(job.issued, job.calls):
        rest = calls[len(issued):]
        for call in rest:
            if call.step != rest[0].step:
                break
            call.created = (issued[-1].created if issued else START_NS) + step_ns
            issued.append(call)


def is_stuck(job):
    """Whether a rank has not come to its end."""
    return any(len(job.issued[r]) < len(job.calls[r]) or any(c.state != "completed" for c in job.issued[r])
               for r in range(job.world))
