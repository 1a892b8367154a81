// The texts for the language tests: every script and program of the repository, and every op's
// example.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::text {

struct CorpusText {
  std::string name;
  std::string text;
};

inline std::string read_text(const std::filesystem::path& path) {
  const std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

inline std::vector<CorpusText> texts_under(const std::string& folder) {
  std::vector<CorpusText> out;
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hir") continue;
    out.push_back({entry.path().string(), read_text(entry.path())});
  }
  std::sort(out.begin(), out.end(),
            [](const CorpusText& a, const CorpusText& b) { return a.name < b.name; });
  return out;
}

inline std::vector<CorpusText> op_examples() {
  std::vector<CorpusText> out;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpRecord& op = record(static_cast<OpKind>(i));
    if (!op.example.empty()) out.push_back({std::string(op.mnemonic), std::string(op.example)});
  }
  return out;
}

}  // namespace hostir::text
