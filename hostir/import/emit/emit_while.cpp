// Loops. A fusion has none, so they are unrolled. In the program of one device, a loop whose end
// depends on data is left to the device hook.
//
// Each pass makes the state of the next one, and the condition on it. Where the condition is a
// known number, as for `scan`, it says whether another pass follows. Where it is data, all states
// are kept: the loop's results are those of the first state whose condition does not hold. States
// past that one are computed and not used, so counters stay known numbers.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hostir/import/emit/handlers.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// Far above any number of layers or steps. A longer loop is not meant to be unrolled.
constexpr int64_t kMostPasses = 100'000;
// The limits for unrolling a loop whose end depends on data: passes without and with a counter in
// its condition, and instructions.
constexpr int64_t kMostDataPasses = 128;
constexpr int64_t kMostBoundedPasses = 1024;
constexpr size_t kMostDataInstructions = 50'000;

class Loop {
 public:
  explicit Loop(const OpSite& s)
      : s_(s), e_(s.emitter), condition_(s.op.regions[0]), body_(s.op.regions[1]) {}

  Expected<void> emit() {
    for (size_t i = 0; i < s_.count(); ++i) state_.push_back(s_.in(i));
    const size_t before = e_.target().instructions.size();
    for (int64_t pass = 0;; ++pass) {
      HOSTIR_ASSIGN_OR_RETURN(const Known goes_on, condition());
      if (goes_on.is_number()) {
        if (goes_on.number->get_int(0) == 0) break;
      } else {
        HOSTIR_ASSIGN_OR_RETURN(const bool handled, continue_by_hook());
        if (handled) return {};
        if (exits_.empty() && !e_.may_cut_loops() && !has_counter())
          return e_.opaque(s_, "a loop whose number of iterations depends on data");
        HOSTIR_TRY(keep_exit(goes_on));
        if (enough(e_.target().instructions.size() - before)) {
          HOSTIR_TRY(cut());
          break;
        }
      }
      if (pass >= kMostPasses)
        return s_.fail("import_c4",
                       fmt::format("runs more than {} times, and loops are unrolled", kMostPasses));
      HOSTIR_TRY(next_state());
    }
    HOSTIR_TRY(choose_exit());
    for (size_t i = 0; i < s_.op.results.size() && i < state_.size(); ++i)
      HOSTIR_TRY(s_.set(std::move(state_[i]), i));
    return {};
  }

 private:
  struct Exit {
    Known goes_on;
    std::vector<Known> state;
  };

  Expected<Known> condition() {
    for (size_t i = 0; i < state_.size(); ++i) s_.frame[condition_.arguments[i]] = state_[i];
    HOSTIR_ASSIGN_OR_RETURN(const auto results, e_.block(s_.function, condition_, s_.frame));
    if (results.size() != 1 || results.front().type != tensor_type("i1", {}))
      return s_.fail("import_c5", "needs a condition that gives one tensor<i1>");
    return results.front();
  }

  Expected<void> next_state() {
    for (size_t i = 0; i < state_.size(); ++i) s_.frame[body_.arguments[i]] = state_[i];
    const size_t cuts = e_.cut_loops();
    HOSTIR_ASSIGN_OR_RETURN(state_, e_.block(s_.function, body_, s_.frame));
    if (state_.size() != s_.count())
      return s_.fail("import_c5", fmt::format("carries {} values, but its body returns {}",
                                              s_.count(), state_.size()));
    for (size_t i = 0; i < state_.size(); ++i) {
      if (state_[i].type != s_.in(i).type)
        return s_.fail("import_c5",
                       fmt::format("carries {} as value {}, but its body returns {}",
                                   s_.in(i).type.to_string(), i, state_[i].type.to_string()));
    }
    if (active_) HOSTIR_TRY(e_.restrict_cut_loops(cuts, e_.cut_loops(), *active_));
    return {};
  }

  // A program of one device can have loops: the rest of this loop becomes one, which starts with
  // the state here.
  Expected<bool> continue_by_hook() {
    if (!exits_.empty()) return false;
    ModuleOp rest = s_.op;
    rest.operands = body_.arguments;
    for (size_t i = 0; i < state_.size(); ++i) s_.frame[body_.arguments[i]] = state_[i];
    return e_.hooked({e_, s_.function, rest, s_.frame});
  }

  // `active_` is whether the loop still runs here: all conditions so far hold.
  Expected<void> keep_exit(const Known& goes_on) {
    for (Known& value : state_) {
      if (value.value.valid() || value.pieces.empty() || !value.type.is_tensor()) continue;
      HOSTIR_ASSIGN_OR_RETURN(value, e_.settled(value));  // joins the pieces once
    }
    exits_.push_back({goes_on, state_});
    if (!active_) {
      active_ = goes_on;
      return {};
    }
    HOSTIR_ASSIGN_OR_RETURN(active_, e_.module_op("stablehlo.and", {*active_, goes_on}));
    return {};
  }

  bool enough(size_t emitted) const {
    const auto passes = static_cast<int64_t>(exits_.size()) - 1;
    if (const auto wanted = e_.module().loop_passes) return passes >= *wanted;
    return emitted > kMostDataInstructions ||
           passes >= (counter().empty() ? kMostDataPasses : kMostBoundedPasses);
  }

  // No more passes: the results are right only if the loop has ended by now.
  Expected<void> cut() {
    if (!e_.may_cut_loops()) {
      return s_.fail("import_c4",
                     fmt::format("its end depends on data and has no bound within {} iterations; "
                                 "loops are unrolled, so give it a counter",
                                 exits_.size() - 1));
    }
    exits_.pop_back();
    e_.add_cut_loop({*active_, static_cast<int64_t>(exits_.size()), s_.op.span, counter()});
    return {};
  }

  Expected<void> choose_exit() {
    for (size_t k = exits_.size(); k-- > 0;) {
      const Exit& here = exits_[k];
      for (size_t i = 0; i < state_.size(); ++i) {
        const Known& value = here.state[i];
        if (value.value.valid() && value.value == state_[i].value) continue;  // never changes
        HOSTIR_ASSIGN_OR_RETURN(state_[i],
                                e_.module_op("stablehlo.select", {here.goes_on, state_[i], value}));
      }
    }
    return {};
  }

  // Visits the condition's comparisons of a carried integer, which may bound the number of passes.
  // Calls `found` with the integer's place in the state and the other operand until it returns
  // true.
  bool any_counter(const std::function<bool(size_t, ValueNumber)>& found) const {
    for (const ModuleOp& op : condition_.ops) {
      if (op.name != "stablehlo.compare" || op.operands.size() != 2) continue;
      for (size_t side = 0; side < 2; ++side) {
        const ValueNumber operand = op.operands[side];
        const ModuleType& type = s_.function.type(operand);
        const auto& carried = condition_.arguments;
        const auto at = std::find(carried.begin(), carried.end(), operand);
        if (at == carried.end() || !type.dims.empty() || !type.dtype() || is_float(*type.dtype()))
          continue;
        if (found(static_cast<size_t>(at - carried.begin()), op.operands[1 - side])) return true;
      }
    }
    return false;
  }

  bool has_counter() const {
    return any_counter([](size_t, ValueNumber) { return true; });
  }

  // What the condition compares a known counter with, as "128 with 5000"; empty if nothing.
  std::string counter() const {
    std::string out;
    any_counter([&](size_t place, ValueNumber other) {
      const Known& now = state_[place];
      const auto& end = s_.frame[other];
      if (!now.is_number() || !end || !end->is_number()) return false;
      out = fmt::format("{} with {}", now.number->get_int(0), end->number->get_int(0));
      return true;
    });
    return out;
  }

  const OpSite& s_;
  Emitter& e_;
  const ModuleBlock& condition_;
  const ModuleBlock& body_;
  std::vector<Known> state_;
  std::vector<Exit> exits_;
  std::optional<Known> active_;
};

Expected<void> emit_while(const OpSite& s) {
  if (s.op.regions.size() != 2)
    return s.fail("import_c5", fmt::format("has {} regions instead of a condition and a body",
                                           s.op.regions.size()));
  const size_t condition = s.op.regions[0].arguments.size();
  const size_t body = s.op.regions[1].arguments.size();
  if (condition != s.count() || body != s.count() || s.op.results.size() > s.count()) {
    return s.fail("import_c5",
                  fmt::format("carries {} values, but its condition takes {}, its body {}, and it "
                              "has {} results",
                              s.count(), condition, body, s.op.results.size()));
  }
  return Loop(s).emit();
}

constexpr HandlerRow kLoopRows[] = {{"stablehlo.while", emit_while, 0}};

}  // namespace

std::span<const HandlerRow> loop_handlers() { return kLoopRows; }

}  // namespace hostir::importer
