#include "hostir/passes/host/lower_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hostir/ir/access.h"
#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/kernel_table.h"
#include "hostir/passes/host/updates.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

class HostLowerer {
 public:
  HostLowerer(const Program& program, const Function& original, const Function& fusion,
              const Segments& segments, const Mesh& mesh, const std::string& host_name)
      : program_(program),
        fusion_(fusion),
        segments_(segments),
        plan_(plan_updates(program, fusion, segments)),
        updates_(plan_.updates),
        mesh_(mesh),
        kernels_(program, plan_.launches.empty() ? segments.kernels : std::vector<Function>()),
        fusion_names_(fusion),
        uses_(uses_of(fusion)),
        buffers_(fusion.values.size()) {
    if (!plan_.launches.empty()) {
      for (const Function& k : segments_.kernels) by_name_.emplace(k.name, &k);
    }
    Function& h = out_.host;
    h.kind = FunctionKind::kHost;
    h.name = host_name;
    h.mesh = mesh.name;
    h.documentation = original.documentation;
    h.body = h.add_region();
  }

  Expected<HostLowering> run() {
    for (const Update& u : updates_) {
      if (u.in_place) home_[u.value] = u.parameter;
    }
    add_parameters();
    add_declarations();
    for (size_t n = 0; n < segments_.items.size(); ++n) {
      if (const auto* use = std::get_if<KernelUse>(&segments_.items[n])) {
        launch(*use, n);
      } else {
        communicate(fusion_.instr(std::get<InstrId>(segments_.items[n])));
      }
      auto u = std::ranges::lower_bound(updates_, std::optional(n), {}, &Update::after);
      for (; u != updates_.end() && u->after == n; ++u) {
        copy(u->value, buffers_[u->value.index], buffers_[u->parameter.index]);
        buffers_[u->value.index] = buffers_[u->parameter.index];
      }
    }
    add_return();
    out_.kernels = kernels_.take();
    out_.host = compacted(std::move(out_.host));
    return std::move(out_);
  }

 private:
  Function& host() { return out_.host; }

  ValueId add_value(std::string name, Type type) {
    names_.add(name);
    return host().add_value(std::move(name), std::move(type));
  }

  Origin origin_of(ValueId fusion_value) const { return fusion_.value(fusion_value).origin; }

  ShardType shard_type(ValueId fusion_value) const {
    const TensorType& t = tensor_type(fusion_, fusion_value);
    return {t.dtype, t.shape, *t.sharding, std::nullopt};
  }

  void add_parameters() {
    for (const Parameter& p : fusion_.params) {
      const ValueId made = add_value(fusion_.value(p.value).name, shard_type(p.value));
      const bool updated = std::any_of(updates_.begin(), updates_.end(),
                                       [&](const Update& u) { return u.parameter == p.value; });
      host().params.push_back({made, p.inout || updated});
      host().value(made).origin = origin_of(p.value);
      buffers_[p.value.index] = made;
    }
  }

  std::string free_name(const std::string& stem) const {
    std::string name = stem;
    for (int n = 1; names_.has(name) || fusion_names_.has(name); ++n) {
      name = stem + "_" + std::to_string(n);
    }
    return name;
  }

  // A communicator of the host function: over axes of a mesh, or between the ranks of two meshes.
  struct Comm {
    std::string mesh;
    AxisList axes;
    std::vector<int64_t> ranks;
  };

  static Comm comm_of(const RedistributeStep& step) {
    return step.ranks.empty() ? Comm{step.to.mesh, step.axes, {}} : Comm{{}, {}, step.ranks};
  }

  static std::string key_of(const Comm& comm) {
    return fmt::format("{}{}[{}]", comm.mesh, axes_to_string(comm.axes),
                       fmt::join(comm.ranks, ","));
  }

  ValueId comm(const RedistributeStep& step) { return comms_[key_of(comm_of(step))]; }

  Attributes attributes_of(const Comm& comm) const {
    Attributes out;
    if (comm.axes.empty()) {
      out.set("groups", IntLists{comm.ranks});
    } else {
      out.set("axes", comm.axes);
      if (comm.mesh != mesh_.name) out.set("mesh", Symbol{comm.mesh});
    }
    return out;
  }

  // Declares communicators in order of first use, then the stream.
  void add_declarations() {
    std::vector<Comm> declared;
    for (const auto& item : segments_.items) {
      const auto* id = std::get_if<InstrId>(&item);
      if (id == nullptr) continue;
      const auto step = step_of(fusion_.instr(*id));
      if (!step || (step->axes.empty() && step->ranks.empty())) continue;
      const Comm comm = comm_of(*step);
      if (comms_.emplace(key_of(comm), ValueId()).second) declared.push_back(comm);
    }
    for (const Comm& comm : declared) {
      std::string name = "c";
      if (declared.size() > 1) {
        if (!comm.mesh.empty() && comm.mesh != mesh_.name) name += "_" + comm.mesh;
        for (const AxisRef& a : comm.axes) name += "_" + a.name;
      }
      const ValueId made = add_value(free_name(name), CommType{});
      comms_[key_of(comm)] = made;
      Instruction i = host_instruction(OpKind::comm, {}, attributes_of(comm));
      i.results = {made};
      host().add_instruction(host().body, std::move(i));
    }
    stream_ = add_value(free_name("s"), StreamType{});
    Attributes name;
    name.set("name", std::string("compute"));
    Instruction i = host_instruction(OpKind::stream, {}, std::move(name));
    i.results = {stream_};
    host().add_instruction(host().body, std::move(i));
  }

  std::optional<RedistributeStep> step_of(const Instruction& reshard) const {
    return hostir::step_of(program_, fusion_, reshard);
  }

  ValueId alloc(const std::string& name, ShardType type, const std::vector<OpRef>& from) {
    const ValueId made = host().add_value(names_.fresh(name), std::move(type));
    Instruction i = host_instruction(OpKind::alloc, {{"stream", stream_}}, {}, from);
    i.results = {made};
    host().add_instruction(host().body, std::move(i));
    return made;
  }

  void launch(const std::string& kernel, const std::vector<ValueId>& reads,
              const std::vector<ValueId>& writes, const std::vector<OpRef>& from) {
    host().add_instruction(host().body, launch_instruction(kernel, reads, writes, stream_, from));
  }

  // The buffer that a value is written to: that of the parameter that it updates, or a new one.
  ValueId buffer_for(ValueId value, const std::vector<OpRef>& from) {
    const auto home = home_.find(value);
    if (home != home_.end()) return buffers_[home->second.index];
    const ValueId made = alloc(fusion_.value(value).name, shard_type(value), from);
    host().value(made).origin = origin_of(value);
    return made;
  }

  // The name of the kernel in the program. Where some kernels are replaced by others that update,
  // only those in use are added.
  std::string shared_kernel(const KernelUse& use, const UpdatingLaunch* updating) {
    if (plan_.launches.empty()) return use.kernel;
    if (updating != nullptr) return kernels_.share(updating->kernel);
    const auto kernel = by_name_.find(use.kernel);
    return kernel != by_name_.end() ? kernels_.share(*kernel->second) : use.kernel;
  }

  void launch(const KernelUse& planned, size_t item) {
    const auto found = plan_.launches.find(item);
    const UpdatingLaunch* updating = found != plan_.launches.end() ? &found->second : nullptr;
    const KernelUse& use = updating != nullptr ? updating->use : planned;
    const std::string kernel = shared_kernel(planned, updating);
    std::vector<ValueId> reads;
    std::vector<ValueId> writes;
    for (const ValueId r : use.reads) reads.push_back(buffers_[r.index]);
    for (const ValueId w : use.writes) {
      buffers_[w.index] = buffer_for(w, use.from);
      writes.push_back(buffers_[w.index]);
    }
    host().add_instruction(host().body,
                           launch_instruction(kernel, reads, writes, stream_, use.from,
                                              updating != nullptr ? updating->updates : 0));
    for (const ValueId w : use.writes) wrote(buffers_[w.index], w);
  }

  // Records the content of a buffer after the instruction added last.
  void wrote(ValueId buffer, ValueId fusion_value) {
    for (Operand& o : host().instructions.back().operands) {
      if (o.value == buffer && writes(o.access)) o.origin = origin_of(fusion_value);
    }
  }

  void communicate(const Instruction& reshard) {
    const ValueId in = reshard.operands.front().value;
    const ValueId out = reshard.results.front();
    const RedistributeStep step = *step_of(reshard);  // split_reshards() leaves single steps
    if (step.kind == StepKind::kRelabel) {
      relabel(in, out, reshard);
    } else if (step.kind == StepKind::kLocal) {
      relayout(in, out, reshard);
    } else if (step.kind == StepKind::kAllReduce && is_last_use(in, reshard)) {
      all_reduce_in_place(in, out, step, reshard);
    } else {
      collective(in, out, step, reshard);
    }
  }

  // True if nothing else reads the memory of the value; a parameter belongs to the caller.
  bool is_last_use(ValueId value, const Instruction& by) const {
    const InstrId made_by = fusion_.value(value).defined_by;
    if (!made_by.valid()) return false;
    const auto& users = uses_[value.index];
    const bool is_last = std::all_of(users.begin(), users.end(), [&](InstrId user) {
      return user == fusion_.value(by.results.front()).defined_by;
    });
    const Instruction& made = fusion_.instr(made_by);
    return is_last &&
           (!is_relabel(program_, fusion_, made) || is_last_use(made.operands.front().value, made));
  }

  // The same memory as a buffer of another mesh.
  void relabel(ValueId in, ValueId out, const Instruction& reshard) {
    const ValueId made = host().add_value(names_.fresh(fusion_.value(out).name), shard_type(out));
    Instruction i =
        host_instruction(OpKind::reinterpret, {{"buffer", buffers_[in.index]}}, {}, reshard.from);
    i.results = {made};
    host().add_instruction(host().body, std::move(i));
    host().value(made).origin = origin_of(out);
    buffers_[out.index] = made;
  }

  void relayout(ValueId in, ValueId out, const Instruction& reshard) {
    const TensorType& from = tensor_type(fusion_, in);
    const TensorType& to = tensor_type(fusion_, out);
    const bool to_partial = to.sharding->unreduced != from.sharding->unreduced;
    const std::string kernel = reshard_kernel(to_partial ? "to_partial" : "take_box", in, out);
    buffers_[out.index] = buffer_for(out, reshard.from);
    launch(kernel, {buffers_[in.index]}, {buffers_[out.index]}, reshard.from);
    wrote(buffers_[out.index], out);
  }

  std::string reshard_kernel(const char* name, ValueId in, ValueId out) {
    Instruction op;
    op.kind = OpKind::reshard;
    return kernels_.share(single_op_kernel(name, std::move(op), tensor_type(fusion_, in),
                                           tensor_type(fusion_, out), fusion_.value(in).name,
                                           fusion_.value(out).name));
  }

  void copy(ValueId value, ValueId from, ValueId to) {
    const InstrId by = fusion_.value(value).defined_by;
    launch(reshard_kernel("copy", value, value), {from}, {to},
           by.valid() ? fusion_.instr(by).from : std::vector<OpRef>());
    wrote(to, value);
  }

  Attributes attributes_of(const RedistributeStep& step, ValueId in) const {
    Attributes attributes;
    const bool is_rooted = step.kind == StepKind::kBroadcast || step.kind == StepKind::kReduce;
    if (step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter ||
        step.kind == StepKind::kReduce) {
      attributes.set("reduction", tensor_type(fusion_, in).sharding->unreduced_kind);
    }
    if (step.kind == StepKind::kPermute) attributes.set("pairs", step.pairs);
    if (is_rooted) attributes.set("root", IndexExpr(step.root));
    return attributes;
  }

  void all_reduce_in_place(ValueId in, ValueId out, const RedistributeStep& step,
                           const Instruction& reshard) {
    const ValueId buffer = buffers_[in.index];
    buffers_[out.index] = buffer;
    host().add_instruction(
        host().body, host_instruction(OpKind::all_reduce,
                                      {{"comm", comm(step)},
                                       {"buffer", buffer, *tensor_type(fusion_, out).sharding},
                                       {"stream", stream_}},
                                      attributes_of(step, in), reshard.from));
    wrote(buffer, out);
  }

  static Sharding dims_only(Sharding s) {
    s.unreduced.clear();
    s.unreduced_kind = Reduction::kSum;
    return s;
  }

  // Adds a pack or unpack between a plain buffer and a buffer packed in blocks of `blocks`.
  void repack(OpKind kind, ValueId value, const Sharding& blocks, ValueId from, ValueId to,
              const std::vector<OpRef>& refs) {
    Instruction op;
    op.kind = kind;
    op.attributes.set("blocks", blocks);
    const TensorType& type = tensor_type(fusion_, value);
    const std::string& name = fusion_.value(value).name;
    const std::string mnemonic(record(kind).mnemonic);
    const std::string kernel =
        kernels_.share(single_op_kernel(mnemonic, std::move(op), type, type, name, name));
    launch(kernel, {from}, {to}, refs);
  }

  // The buffer under a type that says where the blocks are. It holds the same value.
  ValueId view_of_blocks(ValueId buffer, ShardType type, const std::vector<OpRef>& refs) {
    const ValueId made =
        host().add_value(names_.fresh(host().value(buffer).name + "_blocks"), std::move(type));
    host().value(made).origin = host().value(buffer).origin;
    Instruction i = host_instruction(OpKind::reinterpret, {{"buffer", buffer}}, {}, refs);
    i.results = {made};
    host().add_instruction(host().body, std::move(i));
    return made;
  }

  void collective(ValueId in, ValueId out, const RedistributeStep& step,
                  const Instruction& reshard) {
    const std::vector<OpRef>& refs = reshard.from;
    ValueId send = buffers_[in.index];
    if (step.sent != Blocks::kPlain) {
      ShardType type = shard_type(in);
      type.blocks = dims_only(step.to);
      const Sharding blocks = *type.blocks;
      if (step.sent == Blocks::kInOrder) {
        send = view_of_blocks(send, std::move(type), refs);
      } else {
        const ValueId packed = alloc(fusion_.value(in).name + "_packed", std::move(type), refs);
        repack(OpKind::pack, in, blocks, send, packed, refs);
        send = packed;
      }
    }
    const std::string name = fusion_.value(out).name;
    ShardType received = shard_type(out);
    if (step.received != Blocks::kPlain)
      received.blocks = dims_only(*tensor_type(fusion_, in).sharding);
    const bool copied = step.received == Blocks::kCopied;
    ValueId target;
    if (step.received == Blocks::kInOrder) {
      buffers_[out.index] = buffer_for(out, refs);
      target = view_of_blocks(buffers_[out.index], received, refs);
    } else {
      target = copied ? alloc(name + "_packed", received, refs) : buffer_for(out, refs);
      buffers_[out.index] = target;
    }
    const OpKind kind = *find_op(hostir::name(step.kind));
    host().add_instruction(
        host().body,
        host_instruction(
            kind, {{"comm", comm(step)}, {"input", send}, {"output", target}, {"stream", stream_}},
            attributes_of(step, in), refs));
    if (!copied) return wrote(target, out);
    buffers_[out.index] = buffer_for(out, refs);
    repack(OpKind::unpack, out, *received.blocks, target, buffers_[out.index], refs);
    wrote(buffers_[out.index], out);
  }

  static bool is_at_end(const Update& u) { return !u.in_place && !u.after; }

  // A parameter that is returned as it was, or in place of another one, is copied before anything
  // overwrites it.
  void update_at_end(const Instruction& ret, std::vector<Operand>& returned) {
    std::vector<ValueId> overwritten;
    for (const Update& u : updates_) {
      if (is_at_end(u)) overwritten.push_back(u.parameter);
    }
    for (size_t r = 0; r < returned.size() && !overwritten.empty(); ++r) {
      const ValueId value = ret.operands[r].value;
      if (!contains(overwritten, memory_of_value(program_, fusion_, value))) continue;
      const ValueId kept = alloc(fusion_.value(value).name + "_kept", shard_type(value), {});
      host().value(kept).origin = origin_of(value);
      copy(value, returned[r].value, kept);
      returned[r].value = kept;
    }
    for (const Update& u : updates_) {
      const ValueId to = buffers_[u.parameter.index];
      if (is_at_end(u)) copy(u.value, returned[u.result].value, to);
      returned[u.result].value = to;
    }
  }

  void add_return() {
    const Instruction& ret = fusion_.instr(body_of(fusion_).back());
    Instruction i;
    i.kind = OpKind::return_;
    for (const Operand& o : ret.operands) {
      i.operands.push_back(Operand{.value = buffers_[o.value.index]});
    }
    update_at_end(ret, i.operands);
    for (size_t r = 0; r < fusion_.results.size() && r < ret.operands.size(); ++r) {
      ResultDecl decl = fusion_.results[r];
      decl.type = shard_type(ret.operands[r].value);
      host().results.push_back(std::move(decl));
    }
    host().add_instruction(host().body, std::move(i));
  }

  const Program& program_;
  const Function& fusion_;
  const Segments& segments_;
  const UpdatePlan plan_;
  const std::vector<Update>& updates_;
  const Mesh& mesh_;  // of the host function
  KernelTable kernels_;
  std::map<std::string, const Function*> by_name_;  // kernels of the segments, if some are replaced
  UniqueNames names_;                               // in the host function
  UniqueNames fusion_names_;
  std::vector<std::vector<InstrId>> uses_;  // by value in the fusion
  HostLowering out_;
  std::vector<ValueId> buffers_;  // by value in the fusion
  std::map<std::string, ValueId> comms_;
  std::map<ValueId, ValueId> home_;  // values computed in the buffers of parameters
  ValueId stream_;
};

}  // namespace

Expected<HostLowering> lower_to_host(const Program& program, const Function& original,
                                     const Function& fusion, const Segments& segments,
                                     const std::string& mesh, const std::string& host_name) {
  return HostLowerer(program, original, fusion, segments, *program.find_mesh(mesh), host_name)
      .run();
}

}  // namespace hostir
