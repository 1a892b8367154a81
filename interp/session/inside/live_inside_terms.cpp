// The terms of a product or reduction that computes one element: how many, the largest, the first
// that is not finite. The terms follow from the parts that the element needs; a new op only
// declares its shape (kContraction, kReduction) and its rule.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "interp/session/inside/live_inside.h"

namespace hostir::interp {
namespace {

constexpr size_t kLargest = 5;
constexpr int64_t kBlocks = 8;

class Terms {
 public:
  Terms(const ElementStep& step, const std::vector<InsideOperand>& reads) : step_(step) {
    for (const ElementPart& part : step.reads) count_ = std::max(count_, size_of(part));
    for (size_t o = 0; o < step.reads.size(); ++o) {
      if (size_of(step.reads[o]) != count_) continue;
      parts_.push_back(&step.reads[o]);
      names_.push_back(&reads[o]);
    }
  }

  int64_t count() const { return count_; }
  bool multiplies() const { return parts_.size() > 1; }

  double value(int64_t k) const {
    double product = 1;
    for (const ElementPart* part : parts_) product *= part->tensor.get_double(k);
    return product;
  }

  InsideTerm term(int64_t k) const {
    InsideTerm out;
    out.number = k;
    for (size_t i = 0; i < parts_.size(); ++i) {
      InsideOperand& operand = out.operands.emplace_back(*names_[i]);
      operand.element = parts_[i]->box.index_at(k);
      operand.place = index_text(operand.element);
      operand.count = 1;
      operand.number = format_number(parts_[i]->tensor, k);
      operand.not_finite = !std::isfinite(parts_[i]->tensor.get_double(k));
    }
    out.text = multiplies() ? number(value(k)) : out.operands.front().number;
    return out;
  }

  // Products and their sums are computed here in f64 for display: the digits of f32 are enough.
  static std::string number(double value) { return fmt::format("{:.8g}", value); }

 private:
  static int64_t size_of(const ElementPart& part) {
    return part.tensor.data.empty() ? 0 : part.tensor.element_count();
  }

  const ElementStep& step_;
  int64_t count_ = 0;
  std::vector<const ElementPart*> parts_;  // with one element per term
  std::vector<const InsideOperand*> names_;
};

// The reduction of the op's rule; sum if it has none.
Reduction reduction_of(const Program& program, const Function& kernel,
                       const Instruction& instruction) {
  const OpRecord& op = record(instruction.kind);
  if (op.rule == nullptr) return Reduction::kSum;
  const std::vector<Type> operands = operand_types(kernel, instruction);
  const std::vector<Type> results = written_types(kernel, instruction);
  const OpCall call{instruction.kind, operands, instruction.attributes, &instruction, &kernel,
                    &program,         results};
  const auto rule = op.rule(call, results);
  return rule ? rule->reduction_kind : Reduction::kSum;
}

}  // namespace

std::optional<InsideTerms> terms_of(const Program& program, const Function& kernel,
                                    const ElementStep& step,
                                    const std::vector<InsideOperand>& reads) {
  const Instruction& instruction = kernel.instr(step.instruction);
  const OpShape shape = record(instruction.kind).shape;
  if (shape != OpShape::kContraction && shape != OpShape::kReduction) return std::nullopt;
  if (step.makes.empty() || step.makes.front().box.volume() != 1) return std::nullopt;
  const Terms terms(step, reads);
  if (terms.count() < 2) return std::nullopt;
  InsideTerms out;
  out.count = terms.count();
  out.products = terms.multiplies();
  std::vector<int64_t> order(static_cast<size_t>(out.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  const size_t shown = std::min(kLargest, order.size());
  // NaN is unordered: put it first.
  const auto weight = [&](int64_t k) {
    const double v = std::fabs(terms.value(k));
    return std::isnan(v) ? HUGE_VAL : v;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](int64_t a, int64_t b) {
                      const double x = weight(a);
                      const double y = weight(b);
                      return x != y ? x > y : a < b;
                    });
  for (size_t i = 0; i < shown; ++i) out.largest.push_back(terms.term(order[i]));
  for (int64_t k = 0; k < out.count && !out.not_finite; ++k) {
    if (!std::isfinite(terms.value(k))) out.not_finite = terms.term(k);
  }
  const Reduction reduction = reduction_of(program, kernel, instruction);
  if (reduction != Reduction::kSum && reduction != Reduction::kAvg) return out;
  const int64_t size = (out.count + kBlocks - 1) / kBlocks;
  for (int64_t first = 0; out.count > kBlocks && first < out.count; first += size) {
    const int64_t last = std::min(first + size, out.count);
    double sum = 0;
    for (int64_t k = first; k < last; ++k) sum += terms.value(k);
    out.blocks.push_back({first, last, Terms::number(sum)});
  }
  return out;
}

}  // namespace hostir::interp
