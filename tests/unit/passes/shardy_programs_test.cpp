// Shardy's explicit reshards and propagation against the compiler. Each part of a case file in
// tests/conformance/sharding has a fusion as Shardy's test has it and `@name.shardy`, what Shardy
// makes of it. sharding.md there is the table of the results.
#include "tests/unit/passes/program_price.h"
#include "tests/unit/passes/shardy_cases.h"

namespace hostir {
namespace {

constexpr int64_t kManyTimes = 64;  // scales each dimension so that bytes dominate the cost

// Multiplies the sizes in types and in the bounds of slices.
std::string enlarged(const std::string& text, int64_t by) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::string::npos;
    for (const std::string_view opening : {"tensor<", "start = [", "limit = ["}) {
      if (text.compare(at, opening.size(), opening) != 0) continue;
      out += opening;
      at += opening.size();
      end = text.find(opening.back() == '<' ? '>' : ']', at);
    }
    if (end == std::string::npos) {
      out += text[at++];
      continue;
    }
    while (at < end) {
      size_t digits = 0;
      while (std::isdigit(static_cast<unsigned char>(text[at + digits])) != 0) ++digits;
      const bool size = digits > 0 && (text[at + digits] == 'x' || text[end] == ']');
      if (size) {
        out += std::to_string(std::stoll(text.substr(at, digits)) * by);
      } else {
        out += text.substr(at, std::max<size_t>(digits, 1));
      }
      at += std::max<size_t>(digits, 1);
      // The dtype, the last part of a shape, has digits too.
      if (text[end] == '>' && !size) {
        out += text.substr(at, end - at);
        at = end;
      } else if (size && text[end] == '>') {
        out += text[at++];
      }
    }
  }
  return out;
}

std::string cells(const ProgramPrice& p) {
  return fmt::format("{} | {:.5g} | {:.1f}", p.collectives.empty() ? "-" : p.collectives,
                     p.bytes / 1024, p.ns / 1000);
}

std::string compared(const ProgramPrice& ours, const ProgramPrice& theirs) {
  if (ours.ns > theirs.ns * 1.0001 + 1) return "different";
  return ours.ns < theirs.ns - 1 ? "better" : "same";
}

TEST(ShardyPrograms, ExplicitReshardsCostNoMore) {
  const CaseFile cases = read_cases("explicit_reshards.hir");
  Tally tally;
  tally.table = fmt::format(
      "# What Shardy's explicit reshards cost\n\n"
      "Made by `unit_passes --gtest_filter='ShardyPrograms*'`, which fails where this table is not "
      "what it makes.\nThe cost on one {} of all reshards and ops; Shardy's reshards become the "
      "same collectives as ours.\nKiB over one rank's link and us, with every dimension times {}. "
      "A case is compared at its own sizes, too.\n\n"
      "| case | ours | KiB | us | Shardy's | KiB | us | |\n|---|---|--:|--:|---|--:|--:|---|\n",
      default_machine().name, kManyTimes);
  for (const Part& part : cases.parts) {
    const Program small = program_of(part.text);
    const Program large = program_of(enlarged(part.text, kManyTimes));
    if (small.functions.size() != 2 || large.functions.size() != 2) continue;
    const ProgramPrice ours = compiled_price(large, part.name);
    const ProgramPrice theirs = written_price(large, part.name + ".shardy");
    const ProgramPrice small_ours = compiled_price(small, part.name);
    const ProgramPrice small_theirs = written_price(small, part.name + ".shardy");
    std::string verdict = compared(ours, theirs);
    if (compared(small_ours, small_theirs) == "different") {
      verdict = fmt::format("different at its own sizes: {:.1f} us, Shardy's {:.1f}",
                            small_ours.ns / 1000, small_theirs.ns / 1000);
    }
    const std::string word = verdict.substr(0, verdict.find(' '));
    EXPECT_EQ(word == "different", !part.reason.empty()) << part.name << " is " << verdict;
    if (!part.reason.empty()) verdict += ": " + part.reason;
    if (word == "better" && ours.bytes > theirs.bytes) {
      verdict += ", but more bytes";
      ++tally.more_bytes;
    }
    tally.add(word, fmt::format("| {} | {} | {} | {} |\n", part.name, cells(ours), cells(theirs),
                                verdict));
  }
  tally.finish(cases);
  expect_table("explicit_reshards.md", tally.table);
}

// The shardings of a function's values and results; absent: none is written.
std::map<std::string, std::string> shardings_of(const Program& program, const Function& f) {
  std::map<std::string, std::string> out;
  const auto note = [&](const std::string& name, const Type& type) {
    const Sharding* s = sharding_of(type);
    if (s == nullptr) return;
    Sharding dims = canonical(*program.find_mesh(s->mesh), *s);
    dims.unreduced.clear();
    out[name] = dims.dims_to_string();
  };
  for (const Value& v : f.values) note("%" + v.name, v.type);
  for (size_t r = 0; r < f.results.size(); ++r) {
    note("result " + std::to_string(r), f.results[r].type);
  }
  return out;
}

TEST(ShardyPrograms, PropagationIsTheSameOrCheaper) {
  const CaseFile cases = read_cases("propagation.hir");
  Tally tally;
  tally.table = fmt::format(
      "# Shardy's propagation\n\nMade by `unit_passes --gtest_filter='ShardyPrograms*'`, which "
      "fails "
      "where this table is not what it makes.\nWhere the shardings differ, both programs are "
      "compiled and their costs compared, on one {}.\nShardy tests its basic strategy alone, too; "
      "here all strategies run.\n\n"
      "| case | | differing | ours | us | Shardy's | us |\n|---|---|---|---|--:|---|--:|\n",
      default_machine().name);
  for (const Part& part : cases.parts) {
    const Program program = program_of(part.text);
    if (program.find_function(part.name) == nullptr) continue;  // it did not parse
    const auto lowered = lower(program, part.name, {.until = LowerPhase::kPropagated});
    if (!lowered) {
      ADD_FAILURE() << part.name << ": " << lowered.error().message();
      continue;
    }
    auto ours = shardings_of(program, *lowered->program.find_function(lowered->function));
    const auto theirs = shardings_of(program, *program.find_function(part.name + ".shardy"));
    std::string differing, our_cells, their_cells;
    for (const auto& [value, sharding] : theirs) {
      if (ours[value] == sharding) continue;
      differing += (differing.empty() ? "" : ", ") + value;
      our_cells += (our_cells.empty() ? "" : "; ") + ours[value];
      their_cells += (their_cells.empty() ? "" : "; ") + sharding;
    }
    if (differing.empty()) {
      tally.add("same", fmt::format("| {}: {} | same | | | | | |\n", part.section, part.name));
      continue;
    }
    // Results that Shardy's test does not check are declared as in ours.
    Program declared = program;
    Function& shardys = *declared.find_function(part.name + ".shardy");
    for (size_t r = 0; r < shardys.results.size(); ++r) {
      if (sharding_of(shardys.results[r].type) != nullptr) continue;
      shardys.results[r].type = program.find_function(part.name)->results[r].type;
    }
    const ProgramPrice a = compiled_price(program, part.name);
    const ProgramPrice b = compiled_price(declared, part.name + ".shardy");
    const std::string verdict = compared(a, b);
    tally.other_shardings += verdict == "same";
    tally.more_bytes += verdict == "better" && a.bytes > b.bytes;
    tally.add(verdict,
              fmt::format("| {}: {} | {} | {} | {} | {:.1f} | {} | {:.1f} |\n", part.section,
                          part.name, verdict == "same" ? "same cost" : verdict, differing,
                          our_cells, a.ns / 1000, their_cells, b.ns / 1000));
  }
  tally.finish(cases);
  expect_table("propagation.md", tally.table);
}

// The line of each table that counts the verdicts.
TEST(ShardyPrograms, Summary) {
  std::string table =
      "# The compiler against Shardy's tests\n\nMade by `unit_passes "
      "--gtest_filter='ShardyPrograms*'` from the tables, which list the cases.\n\n"
      "`cheaper` and `better` mean less predicted time on one machine. Some of these plans move "
      "more bytes: they start fewer\n"
      "collectives, or use links that are faster. The tables mark them, and the counts say how "
      "many. Cases that the language\n"
      "cannot express are not part of the percentage.\n\n"
      "| table | result |\n|---|---|\n";
  for (const std::string file : {"reshards", "explicit_reshards", "propagation", "rules"}) {
    std::istringstream lines(text_of(kFolder + file + ".md"));
    for (std::string line; std::getline(lines, line);) {
      const bool counts = !line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0;
      if (counts) table += fmt::format("| [{0}]({0}.md) | {1} |\n", file, line);
    }
  }
  expect_table("sharding.md", table);
}

}  // namespace
}  // namespace hostir
