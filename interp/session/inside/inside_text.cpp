#include <fmt/core.h>

#include "hostir/support/text.h"
#include "interp/session/inside/inside.h"

namespace hostir::interp {
namespace {

std::string name_of(const InsideOperand& operand) {
  return fmt::format("%{}{}", operand.value, operand.place);
}

std::string operand_text(const InsideOperand& operand) {
  return operand.number.empty() ? name_of(operand)
                                : fmt::format("{} = {}", name_of(operand), operand.number);
}

std::string term_text(const InsideTerm& term) {
  std::string out = fmt::format("k = {}: ", term.number);
  for (size_t i = 0; i < term.operands.size(); ++i)
    out += (i == 0 ? "" : " * ") + operand_text(term.operands[i]);
  return term.operands.size() < 2 ? out : out + fmt::format(": {}", term.text);
}

std::string step_text(size_t number, const InsideStep& step) {
  std::string out = fmt::format("{:>3}  {}\n", number, step.text);
  std::string reads;
  for (const InsideOperand& r : step.reads) {
    if (r.count > 0 && !r.place.empty()) reads += (reads.empty() ? "" : ", ") + operand_text(r);
  }
  if (!reads.empty()) out += "       reads " + reads + "\n";
  if (step.terms) {
    const InsideTerms& t = *step.terms;
    out += fmt::format("       {} terms, the largest:\n", t.count);
    for (const InsideTerm& term : t.largest) out += "         " + term_text(term) + "\n";
    for (const InsideBlock& b : t.blocks)
      out += fmt::format("         terms {} to {} add up to {}\n", b.first, b.last - 1, b.sum);
    if (t.not_finite) out += "       the first NaN or Inf: " + term_text(*t.not_finite) + "\n";
  }
  if (!step.made.place.empty()) out += "       " + operand_text(step.made) + "\n";
  return out;
}

std::string addend_text(const InsideAddend& a, bool combines) {
  std::string out = fmt::format("  rank {}  {}", a.source.rank, operand_text(a.source));
  if (combines && !a.running.empty()) out += fmt::format("  so far {}", a.running);
  if (!a.rounding.empty()) out += fmt::format("  rounded by {}", a.rounding);
  if (a.source.not_finite) out += "  contributes NaN or Inf";
  return out + "\n";
}

}  // namespace

std::string inside_text(const Inside& inside) {
  std::string out;
  if (!inside.address.empty()) out += fmt::format("{}  {}\n", inside.address, inside.text);
  if (inside.kind != Inside::Kind::kNothing && !inside.value.empty()) {
    out += fmt::format("%{}{} on rank {}", inside.value,
                       inside.element.empty() ? "" : index_text(inside.element), inside.rank);
    out += inside.moment.empty() ? "\n" : ". " + inside.moment + "\n";
  } else if (!inside.moment.empty()) {
    out += inside.moment + "\n";
  }
  for (size_t i = 0; i < inside.steps.size(); ++i) out += step_text(i + 1, inside.steps[i]);
  if (!inside.how.empty()) out += inside.how + "\n";
  for (const InsideAddend& a : inside.addends) out += addend_text(a, inside.addends.size() > 1);
  for (const InsideMember& m : inside.members) {
    out += fmt::format("  rank {}: {}, {}; {} B in, {} B out\n", m.rank, m.state, m.text,
                       m.in_bytes, m.out_bytes);
  }
  for (const InsideFact& f : inside.facts) out += fmt::format("{}: {}\n", f.name, f.text);
  for (const std::string& note : inside.notes) out += note + "\n";
  if (!inside.number.empty()) {
    out += fmt::format("%{}{} = {}\n", inside.value,
                       inside.element.empty() ? "" : index_text(inside.element), inside.number);
  } else if (!inside.held.empty()) {
    out += fmt::format("%{}{} holds {}\n", inside.value, index_text(inside.element), inside.held);
  }
  return out;
}

}  // namespace hostir::interp
