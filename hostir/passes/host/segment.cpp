#include "hostir/passes/host/segment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/kernel_table.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

enum class GroupKind : uint8_t { kLoop, kContraction, kReshard, kAlone };

// The ops of a composite that become one kernel.
struct OneKernel {
  std::string_view name;     // the composite's mnemonic
  std::vector<InstrId> ops;  // in body order
  bool is_possible = false;
};

struct Group {
  GroupKind kind = GroupKind::kLoop;
  std::vector<InstrId> ops;    // in body order
  bool merged = false;         // into a later group
  std::string_view name = {};  // of its kernel; empty: derived from the ops
};

class Segmenter {
 public:
  Segmenter(const Program& program, const Function& f, std::span<const ValueId> keep)
      : f_(f),
        keep_(keep.begin(), keep.end()),
        uses_(uses_of(f)),
        group_of_(f.values.size(), kNoGroup),
        waiting_(f.values.size()),
        position_(f.instructions.size()),
        groups_with_(f.instructions.size()),
        kernel_of_(f.instructions.size()) {
    size_t n = 0;
    for (const InstrId id : body_of(f)) position_[id.index] = n++;
    find_one_kernels(program);
  }

  void run() {
    for (const InstrId id : body_of(f_)) place(id);
  }

  const std::vector<Group>& groups() const { return groups_; }

  // The values that a group computes and other groups need.
  std::vector<ValueId> outputs_of(size_t g) const {
    std::vector<ValueId> out;
    for (const InstrId id : groups_[g].ops) {
      for (const ValueId r : f_.instr(id).results) {
        if (group_of_[r.index] == g && needed_outside(r, g)) out.push_back(r);
      }
    }
    return out;
  }

 private:
  static constexpr size_t kNoGroup = static_cast<size_t>(-1);

  // The mnemonics of a function's composites, by number of the instruction.
  static std::map<uint32_t, std::string_view> composites_of(const Function* source) {
    std::map<uint32_t, std::string_view> composites;
    if (source == nullptr) return composites;
    uint32_t number = 0;
    for (const InstrId id : source->preorder()) {
      ++number;
      const OpRecord& op = record(source->instr(id).kind);
      if (op.shape == OpShape::kComposite) composites.emplace(number, op.mnemonic);
    }
    return composites;
  }

  bool reduces_between_contractions(const std::vector<InstrId>& ops) const {
    bool has_product = false;
    bool has_reduction = false;  // after a product
    for (const InstrId id : ops) {
      const OpShape shape = record(f_.instr(id).kind).shape;
      if (shape == OpShape::kContraction && has_reduction) return true;
      has_product = has_product || shape == OpShape::kContraction;
      has_reduction = has_reduction || (has_product && shape == OpShape::kReduction);
    }
    return false;
  }

  void find_one_kernels(const Program& program) {
    std::map<std::string, std::map<uint32_t, std::string_view>> composites;  // by function
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      if (i.from.size() != 1 || record(i.kind).shape == OpShape::kLayout) continue;
      const OpRef& source = i.from.front();
      const auto [known, is_new] = composites.try_emplace(source.function);
      if (is_new) known->second = composites_of(program.find_function(source.function));
      const auto composite = known->second.find(source.number);
      if (composite == known->second.end()) continue;
      OneKernel& kernel = one_kernels_[source];
      kernel.name = composite->second;
      kernel.ops.push_back(id);
      kernel_of_[id.index] = &kernel;
    }
    for (auto& [source, kernel] : one_kernels_) {
      kernel.is_possible = reduces_between_contractions(kernel.ops) && is_only_used_inside(kernel);
    }
    for (auto& [source, kernel] : one_kernels_) {
      if (kernel.is_possible) take_in_index_maps(kernel);
    }
  }

  auto in_body_order() const {
    return [this](InstrId a, InstrId b) { return position_[a.index] < position_[b.index]; };
  }

  // Adds the index maps that only the kernel reads: it then reads their operands in another order.
  void take_in_index_maps(OneKernel& kernel) {
    for (size_t n = 0; n < kernel.ops.size(); ++n) {
      for (const Operand& o : f_.instr(kernel.ops[n]).operands) {
        const InstrId id = o.value.valid() ? f_.value(o.value).defined_by : InstrId();
        if (!id.valid() || record(f_.instr(id).kind).shape != OpShape::kBroadcast) continue;
        const OneKernel* other = kernel_of_[id.index];
        if ((other != nullptr && other->is_possible) || kept(o.value)) continue;
        const auto is_inside = [&](InstrId user) { return kernel_of_[user.index] == &kernel; };
        const auto& users = uses_[o.value.index];
        if (!std::all_of(users.begin(), users.end(), is_inside)) continue;
        kernel_of_[id.index] = &kernel;
        kernel.ops.push_back(id);
      }
    }
    std::sort(kernel.ops.begin(), kernel.ops.end(), in_body_order());
  }

  // True if only these ops use the large values: those of the shape of the first product. Ops after
  // the kernel may use other values: the logarithms of attention, the results of its gradient.
  bool is_only_used_inside(const OneKernel& kernel) const {
    const size_t last = position_[kernel.ops.back().index];
    std::optional<Shape> large;
    for (const InstrId id : kernel.ops) {
      const Instruction& i = f_.instr(id);
      if (id == kernel.ops.back()) break;
      for (const ValueId r : i.results) {
        const Shape& own = tensor_type(f_, r).shape;
        if (!large && record(i.kind).shape == OpShape::kContraction) large = own;
        const auto fits = [&, may_leave = large && own != *large](InstrId user) {
          return kernel_of_[user.index] == &kernel || (may_leave && position_[user.index] > last);
        };
        if (!std::all_of(uses_[r.index].begin(), uses_[r.index].end(), fits)) return false;
      }
    }
    return true;
  }

  // True if the op belongs to a composite that is one kernel. The kernel is placed with the last
  // op.
  bool place_in_one_kernel(InstrId id) {
    const OneKernel* kernel = kernel_of_[id.index];
    if (kernel == nullptr || !kernel->is_possible) return false;
    if (id != kernel->ops.back()) return true;
    for (const InstrId op : kernel->ops) {
      for (const Operand& o : f_.instr(op).operands) materialise(o.value);
    }
    const size_t g = open(GroupKind::kAlone, kernel->ops.front());
    for (const InstrId op : kernel->ops) add(g, op);
    groups_[g].name = kernel->name;
    return true;
  }

  bool kept(ValueId v) const { return keep_.contains(f_.value(v).origin.value); }

  bool needed_outside(ValueId v, size_t g) const {
    if (kept(v)) return true;
    return std::any_of(uses_[v.index].begin(), uses_[v.index].end(), [&](InstrId user) {
      return is_terminator(f_.instr(user)) || !in_group(user, g);
    });
  }

  // A deferred op can be in several groups; it counts as inside `g` only if it is in no other.
  bool in_group(InstrId id, size_t g) const {
    const std::vector<size_t>& groups = groups_with_[id.index];
    return groups.size() == 1 && groups.front() == g;
  }

  void place(InstrId id) {
    const Instruction& i = f_.instr(id);
    const OpShape shape = record(i.kind).shape;
    if (is_terminator(i)) {
      for (const Operand& o : i.operands) materialise(o.value);
      return;
    }
    if (shape == OpShape::kLayout) {
      for (const Operand& o : i.operands) materialise(o.value);
      open(GroupKind::kReshard, id);
      return;
    }
    if (place_in_one_kernel(id)) return;
    if (can_wait(i, shape)) {
      for (const ValueId r : i.results) waiting_[r.index] = id;
      if (std::any_of(i.results.begin(), i.results.end(), [&](ValueId r) { return kept(r); })) {
        for (const ValueId r : i.results) materialise(r);
      }
      return;
    }
    if (shape == OpShape::kContraction || shape == OpShape::kIndexed) {
      for (const Operand& o : i.operands) materialise(o.value);
      open(shape == OpShape::kContraction ? GroupKind::kContraction : GroupKind::kAlone, id);
      return;
    }
    join(id, i, shape);
  }

  bool can_wait(const Instruction& i, OpShape shape) const {
    if (shape == OpShape::kSource) return true;
    if (shape != OpShape::kBroadcast) return false;
    return std::all_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) {
      return waiting_[o.value.index] || !f_.value(o.value).defined_by.valid();
    });
  }

  // Computes a deferred value in its own group.
  void materialise(ValueId v) {
    if (!v.valid() || !waiting_[v.index] || group_of_[v.index] != kNoGroup) return;
    const InstrId id = *waiting_[v.index];
    const size_t g = open(GroupKind::kLoop, id);
    for (const ValueId r : f_.instr(id).results) group_of_[r.index] = g;
  }

  size_t open(GroupKind kind, InstrId id) {
    groups_.push_back({.kind = kind});
    add(groups_.size() - 1, id);
    return groups_.size() - 1;
  }

  // Adds an op, and before it the deferred ops it reads that no group has materialised.
  void add(size_t g, InstrId id) {
    if (is_in(g, id)) return;
    for (const Operand& o : f_.instr(id).operands) {
      if (o.value.valid() && waiting_[o.value.index] && group_of_[o.value.index] == kNoGroup) {
        add(g, *waiting_[o.value.index]);
      }
    }
    insert(g, id);
    for (const ValueId r : f_.instr(id).results) {
      if (!waiting_[r.index]) group_of_[r.index] = g;
    }
  }

  bool is_in(size_t g, InstrId id) const {
    const std::vector<size_t>& groups = groups_with_[id.index];
    return contains(groups, g);
  }

  void insert(size_t g, InstrId id) {
    auto& ops = groups_[g].ops;
    ops.insert(std::upper_bound(ops.begin(), ops.end(), id, in_body_order()), id);
    groups_with_[id.index].push_back(g);
  }

  // The groups whose values an op reads, directly or through deferred ops.
  void collect_sources(const Instruction& i, std::vector<size_t>& sources) const {
    for (const Operand& o : i.operands) {
      if (!o.value.valid()) continue;
      const size_t g = group_of_[o.value.index];
      if (g == kNoGroup) {
        if (waiting_[o.value.index]) collect_sources(f_.instr(*waiting_[o.value.index]), sources);
      } else if (!contains(sources, g)) {
        sources.push_back(g);
      }
    }
  }

  void join(InstrId id, const Instruction& i, OpShape shape) {
    std::vector<size_t> sources;
    collect_sources(i, sources);
    std::sort(sources.begin(), sources.end());
    if (sources.empty() || !accepts(sources.back(), i, shape)) {
      open(GroupKind::kLoop, id);
      sources.push_back(groups_.size() - 1);
    } else {
      add(sources.back(), id);
    }
    const size_t into = sources.back();
    for (size_t s = 0; s + 1 < sources.size(); ++s) merge(sources[s], into);
  }

  bool accepts(size_t g, const Instruction& i, OpShape shape) const {
    const Group& group = groups_[g];
    if (group.kind == GroupKind::kReshard || group.kind == GroupKind::kAlone) return false;
    if (group.kind == GroupKind::kLoop) return true;
    if (shape != OpShape::kPointwise) return false;
    const Type& product = f_.value(f_.instr(group.ops.front()).results.front()).type;
    const Type& result = f_.value(i.results.front()).type;
    for (const InstrId op : group.ops) {
      if (record(f_.instr(op).kind).shape != OpShape::kContraction) continue;
      const Type& of = f_.value(f_.instr(op).results.front()).type;
      return shape_of(of) == shape_of(result) && *sharding_of(of) == *sharding_of(result);
    }
    return product == result;
  }

  // Moves group `early` into `late` if no group between them needs its values.
  void merge(size_t early, size_t late) {
    if (groups_[early].kind != GroupKind::kLoop || groups_[late].kind != GroupKind::kLoop) return;
    for (const InstrId id : groups_[early].ops) {
      for (const ValueId r : f_.instr(id).results) {
        if (used_between(r, early, late)) return;
      }
    }
    for (const InstrId id : groups_[early].ops) {
      auto& groups = groups_with_[id.index];
      groups.erase(std::find(groups.begin(), groups.end(), early));
      if (!is_in(late, id)) insert(late, id);
      for (const ValueId r : f_.instr(id).results) {
        if (group_of_[r.index] == early) group_of_[r.index] = late;
      }
    }
    groups_[early].ops.clear();
    groups_[early].merged = true;
  }

  bool used_between(ValueId v, size_t early, size_t late) const {
    return std::any_of(uses_[v.index].begin(), uses_[v.index].end(), [&](InstrId user) {
      const std::vector<size_t>& groups = groups_with_[user.index];
      return std::any_of(groups.begin(), groups.end(),
                         [&](size_t g) { return early < g && g < late; });
    });
  }

  const Function& f_;
  std::set<ValueId> keep_;
  std::vector<std::vector<InstrId>> uses_;  // by value
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;                 // by value: the group that computes it
  std::vector<std::optional<InstrId>> waiting_;  // by value: the deferred op that computes it
  std::vector<size_t> position_;
  std::vector<std::vector<size_t>> groups_with_;  // by instruction: the groups that contain it
  std::vector<const OneKernel*> kernel_of_;       // by instruction: that of its composite, or null
  std::map<OpRef, OneKernel> one_kernels_;        // by composite
};

std::string kernel_name(const Function& f, const std::vector<InstrId>& ops) {
  constexpr size_t kShown = 3;
  std::string name;
  size_t shown = 0;
  size_t counted = 0;
  for (const InstrId id : ops) {
    const OpRecord& op = record(f.instr(id).kind);
    if (op.shape == OpShape::kSource && ops.size() > 1) continue;
    ++counted;
    if (shown == kShown) continue;
    name += (shown++ ? "_" : "") + std::string(op.mnemonic);
  }
  if (counted > kShown) name += "_x" + std::to_string(counted);
  return name.empty() ? "sources" : name;
}

// Builds the kernel of a group.
class KernelBuilder {
 public:
  KernelBuilder(const Function& f, const Group& group, std::vector<ValueId> outputs)
      : f_(f), ops_(group.ops), name_(group.name) {
    use_.writes = std::move(outputs);
  }

  Function build() {
    Function k;
    k.kind = FunctionKind::kKernel;
    k.name = name_.empty() ? kernel_name(f_, ops_) : std::string(name_);
    k.body = k.add_region();
    std::set<uint32_t> inside;
    for (const InstrId id : ops_) {
      for (const ValueId r : f_.instr(id).results) inside.insert(r.index);
    }
    for (const InstrId id : ops_) {
      for (const Operand& o : f_.instr(id).operands) {
        if (!o.value.valid() || inside.count(o.value.index) != 0) continue;
        const auto [at, is_new] = map_.try_emplace(o.value.index);
        if (!is_new) continue;
        at->second = k.add_value(f_.value(o.value).name, f_.value(o.value).type);
        k.params.push_back({at->second, false});
        use_.reads.push_back(o.value);
      }
    }
    for (const InstrId id : ops_) append(k, f_.instr(id));
    Instruction ret;
    ret.kind = OpKind::return_;
    for (const ValueId w : use_.writes) {
      ret.operands.push_back(Operand{.value = map_[w.index]});
      k.results.push_back({f_.value(w).name, f_.value(w).type, std::nullopt, {}});
    }
    k.add_instruction(k.body, std::move(ret));
    return compacted(std::move(k));
  }

  KernelUse use() { return std::move(use_); }

 private:
  void append(Function& k, const Instruction& original) {
    Instruction i = original;
    i.comments = {};
    i.from.clear();
    for (Operand& o : i.operands) {
      if (o.value.valid()) o.value = map_[o.value.index];
    }
    for (ValueId& r : i.results) {
      map_[r.index] = k.add_value(f_.value(r).name, f_.value(r).type);
      r = map_[r.index];
    }
    for (const OpRef& ref : original.from) {
      if (from_.insert(ref).second) use_.from.push_back(ref);
    }
    k.add_instruction(k.body, std::move(i));
  }

  const Function& f_;
  const std::vector<InstrId>& ops_;
  std::string_view name_;
  std::unordered_map<uint32_t, ValueId> map_;  // value in the fusion -> value in the kernel
  std::set<OpRef> from_;
  KernelUse use_;
};

}  // namespace

Function single_op_kernel(std::string name, Instruction op, const TensorType& from,
                          const TensorType& to, const std::string& in_name,
                          const std::string& out_name) {
  Function k;
  k.kind = FunctionKind::kKernel;
  k.name = std::move(name);
  k.body = k.add_region();
  const ValueId in = k.add_value(in_name, from);
  k.params.push_back({in, false});
  op.operands = {Operand{.value = in}};
  op.from.clear();
  op.comments = {};
  const ValueId out = k.add_value(in_name == out_name ? out_name + "_out" : out_name, to);
  op.results = {out};
  k.add_instruction(k.body, std::move(op));
  Instruction ret;
  ret.kind = OpKind::return_;
  ret.operands = {Operand{.value = out}};
  k.results.push_back({k.value(out).name, to, std::nullopt, {}});
  k.add_instruction(k.body, std::move(ret));
  return k;
}

namespace {

// The use of a kernel of the file by an `apply`; it writes all results, used or not.
std::optional<KernelUse> applied_kernel(const Instruction& i) {
  const auto* callee = i.attributes.get<Symbol>("callee");
  if (callee == nullptr) return std::nullopt;
  KernelUse use;
  use.kernel = callee->name;
  for (const Operand& o : i.operands) use.reads.push_back(o.value);
  use.writes = i.results;
  use.from = i.from;
  return use;
}

}  // namespace

Segments segment(const Program& program, const Function& fusion, std::span<const ValueId> keep) {
  Segmenter segmenter(program, fusion, keep);
  segmenter.run();
  Segments out;
  KernelTable kernels(program);
  const auto& groups = segmenter.groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].merged) continue;
    if (groups[g].kind == GroupKind::kReshard) {
      out.items.emplace_back(groups[g].ops.back());
      continue;
    }
    std::vector<ValueId> outputs = segmenter.outputs_of(g);
    if (outputs.empty()) continue;  // unused
    if (auto applied = applied_kernel(fusion.instr(groups[g].ops.back()))) {
      out.items.emplace_back(std::move(*applied));
      continue;
    }
    KernelBuilder builder(fusion, groups[g], std::move(outputs));
    Function kernel = builder.build();
    KernelUse use = builder.use();
    use.kernel = kernels.share(std::move(kernel));
    out.items.emplace_back(std::move(use));
  }
  out.kernels = kernels.take();
  return out;
}

}  // namespace hostir
