"""Writes the jobs of flight_recorder_writer.py as torchcomms' clog: one text per rank, without source lines."""
import math
import pathlib

from flight_recorder_writer import START_NS

OPS = {"all_reduce": "all_reduce", "_all_gather_base": "all_gather_single", "_reduce_scatter_base": "reduce_scatter_single",
       "all_reduce_barrier": "barrier", "broadcast": "broadcast", "all_to_all": "all_to_all_v_single", "send": "send",
       "recv": "recv"}


def signature(job, call):
    op = OPS[call.kind]
    ins, outs = ([math.prod(s) for s in shapes] for shapes in (call.inputs, call.outputs))
    if op == "barrier":
        fields = ["async_op=f"]
    elif op == "all_to_all_v_single":
        fields = [f"in_splits={','.join(map(str, ins))}", f"out_splits={','.join(map(str, outs))}", "dtype=f32", "async_op=t"]
    else:
        fields = [f"in_count={sum(ins)}", f"out_count={sum(outs)}", "dtype=f32"]
        fields += ["red_op=sum"] if op in ("all_reduce", "reduce_scatter_single") else []
        fields += ["root=0"] if op == "broadcast" else []
        fields += [f"peer={job.groups[call.group].index(call.peer)}"] if call.peer is not None else []
        fields.append("async_op=t")
    return "|".join([op, *fields, f"comm={'world' if call.group == '0' else call.group}"])


def clog(job, r, lifecycle=True):
    """`lifecycle`: with the lines of starts and ends."""
    lines = [f"V|1|base_timestamp={START_NS / 1e9:.3f}", f"new_comm|comm=world|rank={r}|world_size={job.world}"]
    lines += [f"split|parent=world|child={g}|ranks={','.join(map(str, members))}"
              for g, members in job.groups.items() if g != "0" and r in members]
    names, events = {}, []
    for work, call in enumerate(job.issued[r], 1):
        text = signature(job, call)
        at = lambda ns: f"+{(ns - START_NS) / 1e9:.3f}"  # noqa: E731
        if text not in names:
            names[text] = f"C{len(names) + 1}"
            events.append((call.created, f"{names[text]}|sig|{text}"))
        events.append((call.created, f"{names[text]}|Q|work_id={work}|{at(call.created)}"))
        if lifecycle and call.state == "completed":
            events += [(call.done, f"{names[text]}|{e}|{at(call.done)}") for e in "SE"]
    events.sort(key=lambda event: event[0])
    return "\n".join([*lines, *(text for _, text in events)]) + "\n"


def write_clog(job, folder, lifecycle=True):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for r in range(job.world):
        if r not in job.dead:
            (folder / f"rank{r}.clog").write_text(clog(job, r, lifecycle))
    return folder
