// Lines about the layers of a model: equal lines of several layers are merged.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hostir::cli {

struct NamedLine {
  std::string name;         // a value with '%'
  std::string text;         // may mention other values and instructions: `%h_3`, `@f#17`
  std::string before = {};  // the name; equal in all lines that are merged
};

/// `BEFORE NAME TEXT` for each line, in order. Lines with equal texts and names that differ in one
/// number become one, where the first of them was: `%w_0 .. %w_79 (80x) TEXT`, with the first one's
/// text. Numbers of instructions and in names of values do not count when texts are compared.
std::vector<std::string> collapse_layer_lines(std::span<const NamedLine> lines);

}  // namespace hostir::cli
