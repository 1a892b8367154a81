#include "hostir/passes/host/updates.h"

#include <algorithm>
#include <set>

#include "hostir/passes/meshes/mesh_step.h"

namespace hostir {

namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

// True if a kernel reads each element of the parameter before it writes the result's element of
// the same place. Only pointwise ops keep places: a transpose of what they compute would read
// elements that are already replaced. A reduction has read all elements when its result is used.
bool is_read_element_by_element(const Function& kernel, ValueId parameter) {
  std::vector<bool> in_place(kernel.values.size(), false);  // computed from it place by place
  in_place[parameter.index] = true;
  for (const InstrId id : body_of(kernel)) {
    const Instruction& i = kernel.instr(id);
    if (is_terminator(i)) continue;
    const OpRecord& op = record(i.kind);
    for (const Operand& o : i.operands) {
      if (!o.value.valid() || !in_place[o.value.index]) continue;
      const bool is_parameter = o.value == parameter;
      const bool is_base = op.shape == OpShape::kIndexed && op.operands[o.slot].name == "base";
      if (op.shape == OpShape::kReduction && !is_parameter) continue;
      if (op.shape != OpShape::kPointwise && !is_base) return false;
      for (const ValueId made : i.results) in_place[made.index] = true;
    }
  }
  return true;
}

// Moves the elements at `from` to the end of a list.
template <class T>
void move_to_end(std::vector<T>& list, size_t from) {
  std::rotate(list.begin() + static_cast<std::ptrdiff_t>(from),
              list.begin() + static_cast<std::ptrdiff_t>(from) + 1, list.end());
}

class UpdatePlanner {
 public:
  UpdatePlanner(const Program& program, const Function& fusion, const Segments& segments)
      : program_(program),
        fusion_(fusion),
        segments_(segments),
        uses_(uses_of(fusion)),
        last_read_(fusion.values.size(), kNever),
        made_by_(fusion.values.size(), kNever) {}

  UpdatePlan run() {
    find_updates();
    if (plan_.updates.empty()) return {};
    for (const Function& k : segments_.kernels) by_name_.emplace(k.name, &k);
    for (size_t n = 0; n < segments_.items.size(); ++n) {
      if (const auto* use = std::get_if<KernelUse>(&segments_.items[n])) {
        for (const ValueId v : use->reads) last_read_[v.index] = n;
        for (const ValueId v : use->writes) made_by_[v.index] = n;
      } else {
        const Instruction& moved = fusion_.instr(std::get<InstrId>(segments_.items[n]));
        last_read_[moved.operands.front().value.index] = n;
        made_by_[moved.results.front().index] = n;
      }
    }
    for (Update& u : plan_.updates) decide(u);
    std::ranges::stable_sort(plan_.updates, {}, &Update::after);
    return std::move(plan_);
  }

 private:
  void find_updates() {
    const Instruction& ret = fusion_.instr(body_of(fusion_).back());
    for (size_t r = 0; r < fusion_.results.size() && r < ret.operands.size(); ++r) {
      const std::optional<std::string>& alias = fusion_.results[r].alias;
      const auto parameter = alias ? fusion_.find_value(*alias) : std::nullopt;
      const ValueId value = ret.operands[r].value;
      if (parameter && *parameter != value)
        plan_.updates.push_back({r, value, *parameter, false, {}});
    }
  }

  void decide(Update& u) {
    const auto outlasts_items = [&](InstrId user) {
      const Instruction& i = fusion_.instr(user);
      return is_terminator(i) || is_relabel(program_, fusion_, i);
    };
    const auto& users = uses_[u.parameter.index];
    if (!fusion_.value(memory_of_value(program_, fusion_, u.value)).defined_by.valid() ||
        std::any_of(users.begin(), users.end(), outlasts_items))
      return;
    u.in_place = placed_.insert(u.value).second && compute_in_place(u);
    if (u.in_place) return;
    const auto at = [](size_t item) { return item == kNever ? 0 : item; };
    u.after = std::max({at(last_read_[u.value.index]), at(made_by_[u.value.index]),
                        at(last_read_[u.parameter.index])});
  }

  bool compute_in_place(const Update& u) {
    const TensorType& made = tensor_type(fusion_, u.value);
    const TensorType& held = tensor_type(fusion_, u.parameter);
    const size_t maker = made_by_[u.value.index];
    if (maker == kNever || made.dtype != held.dtype || made.shape != held.shape ||
        *made.sharding != *held.sharding)
      return false;
    const size_t last = last_read_[u.parameter.index];
    const auto* use = std::get_if<KernelUse>(&segments_.items[maker]);
    if (use == nullptr) {
      const auto step =
          step_of(program_, fusion_, fusion_.instr(std::get<InstrId>(segments_.items[maker])));
      // A relabelled value, and one that is reduced in place, is in the buffer of another value.
      const bool moves = step->kind != StepKind::kRelabel && step->kind != StepKind::kAllReduce;
      return moves && (last == kNever || last < maker);
    }
    return last == kNever || last < maker || (last == maker && update(maker, u));
  }

  // Makes the kernel of an item update the parameter's buffer if it can.
  bool update(size_t item, const Update& u) {
    const auto& use = std::get<KernelUse>(segments_.items[item]);
    const auto known = plan_.launches.find(item);
    if (known == plan_.launches.end()) {
      const auto kernel = by_name_.find(use.kernel);
      if (kernel == by_name_.end()) return false;  // it is in the file
      return update({use, *kernel->second, 0}, item, u);
    }
    return update(known->second, item, u);
  }

  bool update(UpdatingLaunch launch, size_t item, const Update& u) {
    auto& [use, kernel, updates] = launch;
    const auto read =
        static_cast<size_t>(std::ranges::find(use.reads, u.parameter) - use.reads.begin());
    const auto written =
        static_cast<size_t>(std::ranges::find(use.writes, u.value) - use.writes.begin());
    const ValueId parameter = kernel.params[read].value;
    if (!is_read_element_by_element(kernel, parameter)) return false;
    kernel.results[written].alias = kernel.value(parameter).name;
    move_to_end(kernel.params, read);
    move_to_end(kernel.results, written);
    move_to_end(kernel.instr(body_of(kernel).back()).operands, written);
    move_to_end(use.reads, read);
    move_to_end(use.writes, written);
    ++updates;
    plan_.launches.insert_or_assign(item, std::move(launch));
    return true;
  }

  const Program& program_;
  const Function& fusion_;
  const Segments& segments_;
  std::map<std::string, const Function*> by_name_;  // kernels
  std::vector<std::vector<InstrId>> uses_;          // by value
  std::vector<size_t> last_read_;                   // by value: index of the item
  std::vector<size_t> made_by_;                     // by value: index of the item
  std::set<ValueId> placed_;  // values that are in a parameter's buffer, or copied
  UpdatePlan plan_;
};

}  // namespace

UpdatePlan plan_updates(const Program& program, const Function& fusion, const Segments& segments) {
  return UpdatePlanner(program, fusion, segments).run();
}

std::optional<RedistributeStep> step_of(const Program& program, const Function& fusion,
                                        const Instruction& reshard) {
  const TensorType& from = tensor_type(fusion, reshard.operands.front().value);
  const TensorType& to = tensor_type(fusion, reshard.results.front());
  return step_between(*program.find_mesh(from.sharding->mesh),
                      *program.find_mesh(to.sharding->mesh), to.shape, *from.sharding,
                      *to.sharding);
}

bool is_relabel(const Program& program, const Function& fusion, const Instruction& instruction) {
  return instruction.kind == OpKind::reshard &&
         step_of(program, fusion, instruction)->kind == StepKind::kRelabel;
}

ValueId memory_of_value(const Program& program, const Function& fusion, ValueId value) {
  const InstrId by = fusion.value(value).defined_by;
  if (!by.valid() || !is_relabel(program, fusion, fusion.instr(by))) return value;
  return memory_of_value(program, fusion, fusion.instr(by).operands.front().value);
}

}  // namespace hostir
