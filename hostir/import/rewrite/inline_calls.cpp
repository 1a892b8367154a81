#include "hostir/import/rewrite/inline_calls.h"

#include <algorithm>
#include <map>

namespace hostir::importer {

namespace {

constexpr int kMostNested = 64;
constexpr size_t kMostValues = 1'000'000;

class Inliner {
 public:
  explicit Inliner(Module& module) : module_(module), entry_(module.functions.front()) {}

  void run() { block(entry_.body, 0); }

 private:
  const ModuleFunction* callee_of(const ModuleOp& op) const {
    const Attr* callee = op.name == "func.call" ? op.find("callee") : nullptr;
    return callee != nullptr ? module_.find(callee->text) : nullptr;
  }

  bool has_loop(const ModuleBlock& b, int depth) const {
    if (depth > kMostNested) return false;
    return std::any_of(b.ops.begin(), b.ops.end(), [&](const ModuleOp& op) {
      if (op.name == "stablehlo.while") return true;
      const ModuleFunction* callee = callee_of(op);
      return (callee != nullptr && has_loop(callee->body, depth + 1)) ||
             std::any_of(op.regions.begin(), op.regions.end(),
                         [&](const ModuleBlock& region) { return has_loop(region, depth + 1); });
    });
  }

  void block(ModuleBlock& b, int depth) {
    std::vector<ModuleOp> out;
    for (ModuleOp& op : b.ops) {
      rename(op.operands);
      const ModuleFunction* callee = depth < kMostNested ? callee_of(op) : nullptr;
      const bool fits = callee != nullptr && callee != &entry_ &&
                        callee->body.arguments.size() == op.operands.size() &&
                        entry_.values.size() + callee->values.size() < kMostValues &&
                        has_loop(callee->body, 0);
      if (!fits) {
        for (ModuleBlock& region : op.regions) block(region, depth);
        out.push_back(std::move(op));
        continue;
      }
      ModuleBlock body = copied(*callee, op.operands);
      block(body, depth + 1);
      const std::vector<ValueNumber> results =
          body.ops.empty() ? std::vector<ValueNumber>() : body.ops.back().operands;
      for (size_t i = 0; i < op.results.size() && i < results.size(); ++i)
        now_[op.results[i]] = results[i];
      if (!body.ops.empty()) body.ops.pop_back();  // the return
      out.insert(out.end(), std::make_move_iterator(body.ops.begin()),
                 std::make_move_iterator(body.ops.end()));
    }
    b.ops = std::move(out);
  }

  // A function's body on new values of the entry function; `given` are its arguments.
  ModuleBlock copied(const ModuleFunction& f, const std::vector<ValueNumber>& given) {
    const auto first = static_cast<ValueNumber>(entry_.values.size());
    entry_.values.insert(entry_.values.end(), f.values.begin(), f.values.end());
    ModuleBlock body = f.body;
    move_by(body, first);
    for (size_t i = 0; i < given.size(); ++i) now_[body.arguments[i]] = given[i];
    return body;
  }

  static void move_by(ModuleBlock& b, ValueNumber by) {
    for (ValueNumber& argument : b.arguments) argument += by;
    for (ModuleOp& op : b.ops) {
      for (ValueNumber& operand : op.operands) operand += by;
      for (ValueNumber& result : op.results) result += by;
      for (ModuleBlock& region : op.regions) move_by(region, by);
    }
  }

  void rename(std::vector<ValueNumber>& values) const {
    for (ValueNumber& value : values) {
      if (const auto found = now_.find(value); found != now_.end()) value = found->second;
    }
  }

  Module& module_;
  ModuleFunction& entry_;
  std::map<ValueNumber, ValueNumber> now_;  // arguments and results of inlined calls
};

}  // namespace

void inline_loops(Module& module) {
  Inliner(module).run();
  count_uses(module.functions.front());
}

}  // namespace hostir::importer
