// Loops whose end depends on data, as loops of the host function.
//
// `for` has bounds that are known when it starts, so a loop is three nested ones: the two outer
// ones read the condition and run the next one only while it holds, and the innermost one runs the
// body `where` it holds. A loop that ends early therefore costs at most 150 extra reads. The
// carried values are in buffers that outlive the passes. The host reads the condition, so it waits
// for each pass, and no event of a pass is needed outside of it.

#include <fmt/format.h>

#include "hostir/import/device/host_writer.h"

namespace hostir::importer {

namespace {

constexpr int64_t kLoopWidth = 50;
constexpr int kLoopLevels = 3;
constexpr int64_t kMostLoopPasses = kLoopWidth * kLoopWidth * kLoopWidth;

using Values = std::set<LocalValue>;

// Adds the values that the steps read or carry but do not define.
void outside_values(const std::vector<LocalStep>& steps, Values& defined, Values& out) {
  for (const LocalStep& step : steps) {
    for (const LocalValue in : step.inputs) {
      if (!defined.contains(in)) out.insert(in);
    }
    defined.insert(step.outputs.begin(), step.outputs.end());
    outside_values(step.body, defined, out);
    for (const LocalValue result : step.body_results) {
      if (!defined.contains(result)) out.insert(result);
    }
  }
}

}  // namespace

// The host continues after everything that was issued here.
void HostWriter::drain() {
  for (ValueId& event : last_event_) {
    if (event.valid()) append(OpKind::wait, {{"event", event}}, {}, {});
    event = ValueId();
  }
}

RegionId HostWriter::open_region(OpKind kind, Attributes attributes, const std::string& index) {
  Instruction made;
  made.kind = kind;
  made.attributes = std::move(attributes);
  const RegionId inner = host_.add_region();
  made.regions.push_back(inner);
  if (!index.empty()) {
    const ValueId value = handle(index, IndexType{});
    host_.region(inner).arguments.push_back(value);
  }
  host_.add_instruction(region_, std::move(made));
  region_ = inner;
  return inner;
}

IndexExpr HostWriter::read_condition(LocalValue condition) {
  const ValueId value = handle("goes_on", IndexType{});
  Attributes attributes;
  attributes.set("index", ExprList());
  append(OpKind::read, {{"buffer", view_of(condition)}}, std::move(attributes), {value});
  return IndexExpr::name(host_.value(value).name);
}

// Writes the body, then copies the new carried values. A value that is carried to another place is
// copied twice, because its own place may be overwritten first.
Expected<void> HostWriter::write_pass(const LocalStep& step) {
  for (const LocalStep& inner : step.body) HOSTIR_TRY(write_step(inner));
  const Values carried(step.outputs.begin(), step.outputs.end());
  std::vector<LocalValue> next = step.body_results;
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i] == step.outputs[i] || !carried.contains(next[i])) continue;
    const LocalProgram::Value like = local_.values[next[i]];
    const LocalValue kept = local_.add(like.name + "_next", like.type);
    state_.resize(local_.values.size());
    ++uses_[kept];
    copy(next[i], kept);
    next[i] = kept;
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i] != step.outputs[i]) copy(next[i], step.outputs[i]);
    if (next[i] != step.body_results[i]) used(next[i], StreamKind::kCompute);
    used(step.body_results[i], StreamKind::kCompute);
  }
  drain();
  return {};
}

Expected<void> HostWriter::write_loop(const LocalStep& step) {
  const LocalValue condition = step.outputs.back();
  Values defined;
  Values held;
  outside_values({step}, defined, held);
  held.insert(step.outputs.begin(), step.outputs.end());
  for (const LocalValue value : held) ++uses_[value];  // freed after the loop, not in it
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    copy(step.inputs[i], step.outputs[i]);
    used(step.inputs[i], StreamKind::kCompute);
  }
  for (const LocalValue value : held) view_of(value);
  drain();
  const RegionId outer = region_;
  const auto waited = waited_;
  IndexExpr goes_on(1);
  for (int level = 0; level < kLoopLevels; ++level) {
    Attributes bounds;
    bounds.set("lower", IndexExpr(0));
    bounds.set(
        "upper",
        IndexExpr::binary(IndexExpr::Kind::kMul, goes_on, IndexExpr(kLoopWidth)).simplified());
    open_region(OpKind::for_, std::move(bounds), "pass");
    goes_on = read_condition(condition);
  }
  Attributes where;
  where.set("condition", IndexExpr::binary(IndexExpr::Kind::kNe, goes_on, IndexExpr(0)));
  open_region(OpKind::where, std::move(where), "");
  HOSTIR_TRY(write_pass(step));
  region_ = outer;
  waited_ = waited;
  for (BufferState& s : state_) {  // the host has waited for all these tasks
    s.written = ValueId();
    s.readers.clear();
  }
  Attributes ended;
  ended.set("condition",
            IndexExpr::binary(IndexExpr::Kind::kEq, read_condition(condition), IndexExpr(0)));
  ended.set("message",
            fmt::format("the loop has not ended after {} iterations; run fewer", kMostLoopPasses));
  append(OpKind::assert_, {}, std::move(ended), {});
  for (const LocalValue value : held) used(value, StreamKind::kCompute);
  return {};
}

}  // namespace hostir::importer
