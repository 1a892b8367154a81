#include "interp/session/what_if/what_if_edits.h"

#include <fmt/core.h>

namespace hostir::interp::what_if_parts {

void Proposals::add(std::string sentence, const LineEdit& edit, size_t penalty) {
  if (edits_.size() >= kMost || edits_.size() * program.text().size() > kMostBytes) return;
  WhatIfEdit out;
  out.text = edit.text();
  if (out.text == program.text() || !seen_.insert(out.text).second) return;
  out.sentence = std::move(sentence);
  out.size = edit_size(program.text(), out.text);
  out.weight = out.size + penalty;
  out.origins = edit.origins();
  edits_.push_back(std::move(out));
}

std::string condition_of(const std::vector<Rank>& ranks, Rank rank_count) {
  if (ranks.empty() || static_cast<Rank>(ranks.size()) == rank_count) return {};
  std::string out;
  size_t pieces = 0;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (++pieces > 3) return {};
    if (!out.empty()) out += " || ";
    if (end - i == 1)
      out += fmt::format("rank == {}", ranks[i]);
    else
      out += fmt::format("rank >= {} && rank <= {}", ranks[i], ranks[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace hostir::interp::what_if_parts
