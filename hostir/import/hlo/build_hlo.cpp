#include "hostir/import/hlo/build_hlo.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "hostir/import/build_fusion.h"
#include "hostir/import/device/device_ops.h"
#include "hostir/import/device/local_program.h"
#include "hostir/import/hlo/hlo_shardings.h"

namespace hostir::importer {

namespace {

constexpr int64_t kMostHloPasses = 100'000;
constexpr int64_t kMostUnrolled = 256;
constexpr size_t kMostSteps = 1'000'000;

// A value of the entry computation: a local buffer, a number, or a view that each user computes.
struct Held {
  std::optional<LocalValue> local;
  std::optional<Known> number;
  const ModuleOp* view = nullptr;
};

bool is_view(const ModuleOp& op) {
  if (op.operands.size() != 1 || op.results.size() != 1) return false;
  return op.name == "hlo.bitcast" || op.name == "stablehlo.reshape";
}

class HloBuilder {
 public:
  HloBuilder(const Module& module, const Mesh& world, Program& program, ImportReport& report)
      : module_(module),
        entry_(module.functions.front()),
        world_(world),
        program_(program),
        report_(report),
        held_(entry_.values.size()),
        frame_(entry_.values.size()),
        name_(plain_name(module.name, "hlo")) {}

  LocalProgram& local() { return local_; }
  const std::string& name() const { return name_; }

  void hold(ValueNumber value, LocalValue local) { held_[value].local = local; }

  Expected<std::vector<ValueNumber>> block(const ModuleBlock& b) {
    for (const ModuleOp& op : b.ops) {
      if (op.name == "func.return" || op.name == "stablehlo.return") return op.operands;
      HOSTIR_TRY(operation(op));
    }
    return std::vector<ValueNumber>();
  }

  // The buffer of a value; creates one for a view or number.
  Expected<LocalValue> stored(ValueNumber value, const std::string& name) {
    if (held_[value].local) return *held_[value].local;
    ModuleOp nothing;
    nothing.name = name;
    nothing.operands = {value};
    HOSTIR_TRY(launch(nothing, {value}));
    if (!held_[value].local)
      return fail_at(ErrorKind::kInvalid, "import_c3",
                     "a value of type " + entry_.type(value).to_string() + " has no counterpart",
                     entry_.values[value].span);
    return *held_[value].local;
  }

 private:
  Expected<void> operation(const ModuleOp& op) {
    if (local_.steps.size() > kMostSteps) {
      return fail_at(
          ErrorKind::kInvalid, "import_c4",
          fmt::format("the module has more than {} steps, because loops are unrolled", kMostSteps),
          op.span);
    }
    if (op.name == "hlo.done") return done(op);
    if (op.name == "stablehlo.while") return loop(op);
    if (is_view(op)) {
      // A view of a known number is a known number. The users of any other view compute it.
      if (!held_[op.operands[0]].number) {
        held_[op.results[0]] = {std::nullopt, std::nullopt, &op};
        return {};
      }
    }
    return launch(op, op.results);
  }

  // Binds an operand in the frame of one kernel: as a parameter, as a number, or by computing its
  // view in the kernel.
  Expected<void> bind(ValueNumber value, Emitter& emitter,
                      std::vector<std::optional<LocalValue>>& numbers,
                      std::vector<ValueNumber>& bound) {
    if (frame_[value]) return {};
    const Held& held = held_[value];
    bound.push_back(value);
    if (held.number) {
      frame_[value] = held.number;
      return {};
    }
    if (held.view != nullptr && !held.local) {
      HOSTIR_TRY(bind(held.view->operands[0], emitter, numbers, bound));
      return emitter.operation(entry_, *held.view, frame_);
    }
    if (!entry_.type(value).is_tensor()) {  // a token
      frame_[value].emplace().type = entry_.type(value);
      return {};
    }
    if (!held.local)
      return fail_at(ErrorKind::kInvalid, "import_c3",
                     "%" + entry_.values[value].name + " is used before it is computed",
                     entry_.values[value].span);
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type,
                            our_type(entry_.type(value), entry_.values[value].span));
    const Known known = emitter.parameter(entry_.values[value].name, entry_.type(value), type);
    frame_[value] = known;
    numbers.resize(emitter.target().values.size());
    numbers[known.value.index] = held.local;
    return {};
  }

  // Collects outside values that the regions of an operation use.
  void captured(const ModuleOp& op, std::vector<ValueNumber>& out) const {
    for (const ModuleBlock& region : op.regions) {
      for (const ModuleOp& inner : region.ops) {
        for (const ValueNumber value : inner.operands) {
          const Held& held = held_[value];
          if (held.local || held.number || held.view != nullptr) out.push_back(value);
        }
        captured(inner, out);
      }
    }
  }

  // Adds one instruction as kernels and collectives. If `op` has no results, stores the values in
  // `results` without computing anything.
  Expected<void> launch(const ModuleOp& op, const std::vector<ValueNumber>& results) {
    Function flat;
    flat.kind = FunctionKind::kKernel;
    Emitter emitter(module_, program_, flat, report_);
    emitter.set_text_rounds();
    DeviceOps devices(world_, fresh_name(op));
    emitter.set_device_hook([&](const OpSite& site) { return devices.take(site); });
    std::vector<std::optional<LocalValue>> numbers;
    std::vector<ValueNumber> bound;
    std::vector<ValueNumber> operands = op.operands;
    captured(op, operands);
    for (const ValueNumber operand : operands) HOSTIR_TRY(bind(operand, emitter, numbers, bound));
    if (!op.results.empty()) HOSTIR_TRY(emitter.operation(entry_, op, frame_));
    std::vector<ValueId> returned;
    std::vector<ValueNumber> kept;
    for (const ValueNumber result : results) {
      if (!entry_.type(result).is_tensor()) continue;  // a token
      if (!frame_[result])
        return fail_at(ErrorKind::kInvalid, "import_c3",
                       "the instruction gives no value for %" + entry_.values[result].name,
                       op.span);
      const Known& known = *frame_[result];
      if (known.is_number() && !known.value.valid() && !op.results.empty()) {
        held_[result] = {std::nullopt, known, nullptr};
        continue;
      }
      HOSTIR_ASSIGN_OR_RETURN(const ValueId value, emitter.materialise(known));
      returned.push_back(value);
      kept.push_back(result);
    }
    const size_t before = local_.steps.size();
    HOSTIR_TRY(devices.cut(flat, returned, program_, local_, numbers));
    for (size_t i = 0; i < kept.size(); ++i)
      held_[kept[i]] = {numbers[returned[i].index], std::nullopt, nullptr};
    for (const ValueNumber value : bound) frame_[value].reset();
    for (const ValueNumber value : op.results) frame_[value].reset();
    if (op.find("async") != nullptr) defer(before, op);
    return {};
  }

  // A start issues only the steps up to the collective; the done gets the later steps.
  void defer(size_t before, const ModuleOp& op) {
    size_t behind = before;
    while (behind < local_.steps.size() &&
           local_.steps[behind].kind != LocalStep::Kind::kCollective)
      ++behind;
    if (behind >= local_.steps.size() || op.results.empty()) return;
    auto& steps = deferred_[op.results.front()];
    LocalStep wait;
    wait.kind = LocalStep::Kind::kWait;
    wait.place = op.span;
    wait.inputs = local_.steps[behind].outputs;
    steps.push_back(std::move(wait));
    steps.insert(steps.end(), local_.steps.begin() + static_cast<int64_t>(behind) + 1,
                 local_.steps.end());
    local_.steps.erase(local_.steps.begin() + static_cast<int64_t>(behind) + 1, local_.steps.end());
  }

  Expected<void> done(const ModuleOp& op) {
    if (op.operands.size() != op.results.size())
      return fail_at(ErrorKind::kInvalid, "import_c2", "a -done needs the result of its -start",
                     op.span);
    for (size_t i = 0; i < op.operands.size(); ++i) held_[op.results[i]] = held_[op.operands[i]];
    if (op.operands.empty()) return {};
    const auto found = deferred_.find(op.operands.front());
    if (found == deferred_.end()) return {};
    local_.steps.insert(local_.steps.end(), found->second.begin(), found->second.end());
    deferred_.erase(found);
    return {};
  }

  // Unrolls a loop whose trip count is in the text, or whose condition is a known number in every
  // iteration. A long one, or one whose end depends on data, becomes a loop of the host function.
  Expected<void> loop(const ModuleOp& op) {
    const ModuleBlock& condition = op.regions[0];
    const ModuleBlock& body = op.regions[1];
    const int64_t passes = op.integer_or("passes", -1);
    std::vector<Held> carried;
    for (const ValueNumber value : op.operands) carried.push_back(held_[value]);
    if (condition.arguments.size() != carried.size() || body.arguments.size() != carried.size()) {
      return fail_at(
          ErrorKind::kInvalid, "import_c5",
          fmt::format("the loop carries {} values, but its condition takes {} and its body {}",
                      carried.size(), condition.arguments.size(), body.arguments.size()),
          op.span);
    }
    for (int64_t pass = 0; passes < 0 || pass < passes; ++pass) {
      if (pass > kMostHloPasses)
        return fail_at(
            ErrorKind::kInvalid, "import_c4",
            fmt::format("the loop runs more than {} times, and loops are unrolled", kMostHloPasses),
            op.span);
      for (size_t i = 0; i < carried.size(); ++i) {
        HOSTIR_TRY(settle_view(carried[i], op));
        held_[condition.arguments[i]] = carried[i];
        held_[body.arguments[i]] = carried[i];
      }
      if (passes < 0 || passes > kMostUnrolled) {
        HOSTIR_ASSIGN_OR_RETURN(const auto goes_on, block(condition));
        if (goes_on.size() != 1)
          return fail_at(ErrorKind::kInvalid, "import_c5",
                         fmt::format("the loop's condition returns {} values", goes_on.size()),
                         op.span);
        if (passes > kMostUnrolled || !held_[goes_on[0]].number) return host_loop(op, goes_on[0]);
        if (held_[goes_on[0]].number->number->get_int(0) == 0) break;
      }
      HOSTIR_ASSIGN_OR_RETURN(const auto next, block(body));
      if (next.size() != carried.size())
        return fail_at(ErrorKind::kInvalid, "import_c5",
                       fmt::format("the loop carries {} values, but its body returns {}",
                                   carried.size(), next.size()),
                       op.span);
      std::vector<Held> after;
      for (const ValueNumber value : next) after.push_back(held_[value]);
      carried = std::move(after);
    }
    for (size_t i = 0; i < carried.size(); ++i) {
      HOSTIR_TRY(settle_view(carried[i], op));
      held_[op.results[i]] = carried[i];
    }
    return {};
  }

  // Adds a loop that runs as long as its condition holds. The arguments of both regions hold the
  // state at the start of an iteration, and `goes_on` holds the condition there. Values that every
  // iteration passes on unchanged are not carried.
  Expected<void> host_loop(const ModuleOp& op, ValueNumber goes_on) {
    const ModuleBlock& condition = op.regions[0];
    const ModuleBlock& body = op.regions[1];
    LocalStep step;
    step.kind = LocalStep::Kind::kLoop;
    step.place = op.span;
    std::vector<size_t> changing;
    const std::vector<ValueNumber> last =
        body.ops.empty() ? std::vector<ValueNumber>() : body.ops.back().operands;
    for (size_t i = 0; i < body.arguments.size(); ++i) {
      const ValueNumber argument = body.arguments[i];
      if (i < op.results.size()) held_[op.results[i]] = held_[argument];
      if (i < last.size() && last[i] == argument) continue;
      changing.push_back(i);
      HOSTIR_TRY(carry(argument, step));
    }
    HOSTIR_TRY(carry(goes_on, step));
    for (size_t k = 0; k < changing.size(); ++k) {
      const Held held = {step.outputs[k], std::nullopt, nullptr};
      held_[body.arguments[changing[k]]] = held;
      if (changing[k] < op.results.size()) held_[op.results[changing[k]]] = held;
    }
    const std::vector<Held> before = held_;  // restored after each pass
    std::swap(step.body, local_.steps);
    HOSTIR_ASSIGN_OR_RETURN(const auto next, block(body));
    if (next.size() != body.arguments.size())
      return fail_at(ErrorKind::kInvalid, "import_c5",
                     fmt::format("the loop carries {} values, but its body returns {}",
                                 body.arguments.size(), next.size()),
                     op.span);
    for (size_t i = 0; i < next.size(); ++i) held_[condition.arguments[i]] = held_[next[i]];
    for (const size_t i : changing) {
      HOSTIR_ASSIGN_OR_RETURN(const LocalValue value, stored(next[i], "next"));
      held_[condition.arguments[i]] = held_[next[i]];
      step.body_results.push_back(value);
    }
    HOSTIR_ASSIGN_OR_RETURN(const auto again, block(condition));
    if (again.size() != 1)
      return fail_at(ErrorKind::kInvalid, "import_c5",
                     fmt::format("the loop's condition returns {} values", again.size()), op.span);
    HOSTIR_ASSIGN_OR_RETURN(const LocalValue holds, stored(again[0], "goes_on"));
    step.body_results.push_back(holds);
    std::swap(step.body, local_.steps);
    held_ = before;
    local_.steps.push_back(std::move(step));
    return {};
  }

  // Adds a carried value that starts as this one.
  Expected<void> carry(ValueNumber value, LocalStep& step) {
    HOSTIR_ASSIGN_OR_RETURN(const LocalValue from, stored(value, "initial"));
    step.inputs.push_back(from);
    const std::string& name = entry_.values[value].name;
    step.outputs.push_back(local_.add(plain_name(name, "carried"), local_.values[from].type));
    return {};
  }

  // Stores a view that leaves an iteration: its operands may have other values in the next one.
  Expected<void> settle_view(Held& held, const ModuleOp&) {
    if (held.view == nullptr || held.local) return {};
    HOSTIR_ASSIGN_OR_RETURN(const LocalValue local, stored(held.view->results[0], "view"));
    held = {local, std::nullopt, nullptr};
    return {};
  }

  std::string fresh_name(const ModuleOp& op) {
    const std::string stem = op.results.empty() ? op.name : entry_.values[op.results.front()].name;
    const std::string base = name_ + "." + plain_name(stem, "op");
    std::string out = base;
    while (!kernel_names_.insert(out).second) out = fmt::format("{}_{}", base, ++copies_[base]);
    return out;
  }

  const Module& module_;
  const ModuleFunction& entry_;
  const Mesh& world_;
  Program& program_;
  ImportReport& report_;
  LocalProgram local_;
  std::vector<Held> held_;
  Frame frame_;
  std::string name_;
  std::map<ValueNumber, std::vector<LocalStep>> deferred_;
  std::set<std::string> kernel_names_;
  std::map<std::string, int> copies_;
};

}  // namespace

Expected<void> build_hlo(const HloModule& hlo, const ResultShapes& shapes, Program& program,
                         ImportReport& report) {
  const ModuleFunction& entry = hlo.module.functions.front();
  HOSTIR_ASSIGN_OR_RETURN(const EntryTiles tiles, read_entry_tiles(hlo));
  const Mesh& world = tiles.mesh;
  program.add_mesh(world);

  HloBuilder builder(hlo.module, world, program, report);
  std::vector<Sharding> shardings;
  for (size_t p = 0; p < entry.params.size(); ++p) {
    const Port& port = entry.params[p];
    const ValueNumber value = entry.body.arguments[p];
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(port.type, port.span));
    HOSTIR_ASSIGN_OR_RETURN(Sharding sharding, param_sharding(hlo, p, tiles));
    shardings.push_back(sharding);
    const LocalValue local = builder.local().add(entry.values[value].name, type);
    builder.hold(value, local);
    builder.local().params.push_back({plain_name(entry.values[value].name, "p"), local,
                                      global_of(type, std::move(sharding), world)});
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto results, builder.block(entry.body));
  const auto layouts = guess_layouts(hlo.module, entry, shardings, world, shapes);
  for (size_t r = 0; r < results.size(); ++r) {
    HOSTIR_ASSIGN_OR_RETURN(const LocalValue local,
                            builder.stored(results[r], fmt::format("result{}", r)));
    HOSTIR_ASSIGN_OR_RETURN(Sharding sharding, result_sharding(hlo, r, layouts[r], tiles, report));
    builder.local().results.push_back(
        {result_name(entry.results[r]), local,
         global_of(builder.local().values[local].type, std::move(sharding), world)});
  }
  if (hlo.entry.partitions > 1 && tiles.results.empty()) note_layouts(builder.local(), report);
  return write_host(builder.local(), builder.name(), world, program);
}

}  // namespace hostir::importer
