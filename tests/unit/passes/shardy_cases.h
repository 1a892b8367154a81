// The case files in tests/conformance/sharding, and the tables made from them.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hostir/text/parse/parser.h"

namespace hostir {

inline const std::string kFolder = "tests/conformance/sharding/";
inline constexpr double kWanted = 0.97;  // the share of cases that are the same or better

inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Part {
  std::string text;
  std::string section;  // of Shardy's tests
  std::string name;
  std::string reason;  // why the compiler's way is different; from a line `//? `
};

// The parts of a case file, and its lines `// - section | case | construct`, which name the cases
// that the language cannot express.
struct CaseFile {
  std::vector<Part> parts;
  std::vector<std::string> inexpressible;
};

inline CaseFile read_cases(const std::string& name) {
  CaseFile out;
  std::istringstream in(text_of(kFolder + name));
  Part part;
  const auto finish = [&] {
    if (!part.name.empty()) out.parts.push_back(part);
    part = {};
  };
  for (std::string line; std::getline(in, line);) {
    if (line == "// -----") {
      finish();
    } else if (line.starts_with("// - ")) {
      out.inexpressible.push_back(line.substr(5));
    } else {
      if (line.starts_with("//! ")) part.section = line.substr(4);
      if (line.starts_with("//? ")) part.reason = line.substr(4);
      if (line.starts_with("fusion @") && part.name.empty()) {
        part.name = line.substr(8, line.find('(') - 8);
      }
      part.text += line + "\n";
    }
  }
  finish();
  return out;
}

inline Program program_of(const std::string& text) {
  auto program = text::parse_program(text);
  if (program) return std::move(*program);
  ADD_FAILURE() << program.error().message() << "\n" << text;
  return {};
}

struct Tally {
  std::map<std::string, int> of;
  int more_bytes = 0;       // of the better ones
  int other_shardings = 0;  // of those with the same cost
  std::string table;
  void add(const std::string& verdict, const std::string& line) {
    ++of[verdict];
    table += line;
  }
  void finish(const CaseFile& cases, double wanted = kWanted) {
    int all = 0;
    for (const auto& [verdict, n] : of) all += n;
    const int good = of["same"] + of["better"];
    const auto part = [](int count, std::string_view what) {
      return count == 0 ? std::string() : fmt::format(" ({} of these {})", count, what);
    };
    table += fmt::format("\n{} same{}, {} better{}, {} different; not in the language: {}.\n",
                         of["same"], part(other_shardings, "with other shardings at the same cost"),
                         of["better"], part(more_bytes, "with more bytes in less time"),
                         of["different"], cases.inexpressible.size());
    EXPECT_GE(good, wanted * all) << table;
    std::map<std::string, std::string> names;  // by construct
    for (const std::string& line : cases.inexpressible) {
      const size_t bar = line.rfind(" | ");
      std::string& list = names[line.substr(bar + 3)];
      list += (list.empty() ? "" : ", ") + line.substr(0, bar);
    }
    if (!names.empty()) table += "\n";
    for (const auto& [construct, list] : names) table += "* " + construct + ": " + list + "\n";
  }
};

inline void expect_table(const std::string& file, const std::string& table) {
  if (text_of(kFolder + file) == table) return;
  const std::string made = testing::TempDir() + file;
  std::ofstream(made) << table;
  ADD_FAILURE() << kFolder << file << " is not what the test makes; the new one is " << made;
}

}  // namespace hostir
