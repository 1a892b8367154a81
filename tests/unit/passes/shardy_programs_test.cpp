// Shardy's explicit reshards and propagation against the compiler. Each part of a case file in
// tests/conformance/sharding has a fusion as Shardy's test has it and `@name.shardy`, what Shardy
// makes of it. sharding.md there is the table of the results.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "hostir/text/parser.h"
#include "tests/unit/passes/program_price.h"

namespace hostir {
namespace {

const std::string kFolder = "tests/conformance/sharding/";
constexpr int64_t kManyTimes = 64;  // scales each dimension so that bytes dominate the cost
constexpr double kWanted = 0.97;    // the share of cases that are the same or better

std::string text_of(const std::string& file) {
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

CaseFile read_cases(const std::string& name) {
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

Program program_of(const std::string& text) {
  auto program = text::parse_program(text);
  if (program) return std::move(*program);
  ADD_FAILURE() << program.error().message() << "\n" << text;
  return {};
}

std::string cells(const ProgramPrice& p) {
  return fmt::format("{} | {:.5g} | {:.1f}", p.collectives.empty() ? "-" : p.collectives,
                     p.bytes / 1024, p.ns / 1000);
}

std::string compared(const ProgramPrice& ours, const ProgramPrice& theirs) {
  if (ours.ns > theirs.ns * 1.0001 + 1) return "different";
  return ours.ns < theirs.ns - 1 ? "better" : "same";
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

void expect_table(const std::string& file, const std::string& table) {
  if (text_of(kFolder + file) == table) return;
  const std::string made = testing::TempDir() + file;
  std::ofstream(made) << table;
  ADD_FAILURE() << kFolder << file << " is not what the test makes; the new one is " << made;
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

// The ways in which a factor may be cut.
enum class WhenCut : uint8_t { kNothing, kExchange, kGather };

// A rule without tensors that have no dimensions, with its factors named in order of appearance.
struct RuleText {
  std::string tensors;
  std::map<char, int64_t> sizes;
  std::set<char> reduction;
  std::map<char, WhenCut> when_cut;
};

RuleText read_rule(const std::string& text) {
  RuleText out;
  std::map<char, char> names;
  std::map<char, std::pair<bool, bool>> sides;  // in operands, in results
  const auto renamed = [&](char c) {
    return names.try_emplace(c, static_cast<char>('a' + names.size())).first->second;
  };
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const size_t end = text.find(")", text.find("->"));
  for (size_t at = 0; at < end; ++at) {
    if (text.compare(at, 2, "[]") == 0) {
      ++at;  // a scalar has no factors
      continue;
    }
    if (std::string_view("(), ").find(text[at]) != std::string_view::npos && text[at] != ',')
      continue;
    if (text[at] == ',' && text[at - 1] == ']') continue;
    const char c = letter(text[at]) ? renamed(text[at]) : text[at];
    out.tensors += c;
    if (!letter(c)) continue;
    (at < text.find("->") ? sides[c].first : sides[c].second) = true;
  }
  std::string clause;
  for (size_t at = end; at < text.size(); ++at) {
    if (!letter(text[at])) continue;
    size_t word = at;
    while (word < text.size() && (letter(text[word]) || text[word] == '_')) ++word;
    if (word - at > 1) {
      clause = text.substr(at, word - at);
    } else if (clause.empty()) {
      out.sizes[renamed(text[at])] = std::stoll(text.substr(at + 2));
    } else if (clause == "reduction") {
      out.reduction.insert(renamed(text[at]));
    } else if (clause != "blocked_propagation") {
      out.when_cut[renamed(text[at])] =
          clause == "permutation" ? WhenCut::kExchange : WhenCut::kGather;
    }
    at = word - 1;
  }
  // A factor that is only in operands and not reduced must be whole.
  for (const auto& [factor, in] : sides) {
    if (in.first && !in.second && out.reduction.count(factor) == 0) {
      out.when_cut[factor] = WhenCut::kGather;
    }
  }
  return out;
}

// The dimensions that a rule ties together, without those that must be whole: `[a*],[ab]->[b]`.
std::string free_dimensions(const RuleText& rule) {
  std::map<char, char> names;
  std::string out;
  for (const char c : rule.tensors) {
    const auto cut = rule.when_cut.find(c);
    const bool factor = c >= 'a' && c <= 'z';
    if (factor && cut != rule.when_cut.end()) {
      out += '*';
    } else {
      out += factor ? names.try_emplace(c, static_cast<char>('a' + names.size())).first->second : c;
    }
  }
  return out;
}

// A result dimension that no operand has is free in ours (a slice), and whole in Shardy's rules.
std::string rules_compared(RuleText ours, RuleText theirs) {
  if (ours.tensors == theirs.tensors) {
    if (ours.reduction != theirs.reduction) return "different";
    bool fewer = false;
    for (const auto& [factor, size] : theirs.sizes) {
      if (ours.when_cut[factor] > theirs.when_cut[factor]) return "different";
      fewer = fewer || ours.when_cut[factor] < theirs.when_cut[factor];
    }
    return fewer ? "better" : "same";
  }
  const auto whole = [](RuleText rule) {
    const size_t arrow = rule.tensors.find("->");
    for (const char c : rule.tensors) {
      if (c < 'a' || c > 'z') continue;
      if (rule.tensors.find(c) > arrow && rule.sizes[c] != 0) rule.when_cut[c] = WhenCut::kGather;
    }
    return rule;
  };
  for (const auto& [factor, cut] : theirs.when_cut) {
    if (cut == WhenCut::kExchange) return "different";
  }
  if (free_dimensions(whole(ours)) == free_dimensions(whole(theirs))) return "same";
  // A factor that is summed over may be cut, where Shardy's must be whole.
  if (!theirs.reduction.empty()) return "different";
  for (const char factor : ours.reduction) ours.when_cut[factor] = WhenCut::kGather;
  return free_dimensions(whole(ours)) == free_dimensions(whole(theirs)) ? "better" : "different";
}

// The rule of an op, without operands that only repeat a scalar.
Expected<ShardingRule> rule_without_scalars(const Program& program, const Function& f,
                                            const Instruction& i) {
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule rule, rule_of(program, f, i));
  for (size_t o = i.operands.size(); o-- > 0;) {
    const InstrId def = f.value(i.operands[o].value).defined_by;
    if (!def.valid() || f.instr(def).operands.size() != 1) continue;
    if (!tensor_type(f, f.instr(def).operands[0].value).shape.empty()) continue;
    rule.operands.erase(rule.operands.begin() + static_cast<std::ptrdiff_t>(o));
  }
  return rule;
}

// The rule of a fusion of several ops: dimensions that the ops' rules tie together are one factor.
// Errors: a dimension with several factors.
Expected<ShardingRule> rule_of_fusion(const Program& program, const Function& f) {
  using Dim = std::pair<uint32_t, size_t>;  // of a value
  std::map<Dim, Dim> parents;
  const std::function<Dim(Dim)> root = [&](Dim d) {
    const auto at = parents.find(d);
    return at == parents.end() ? d : root(at->second);
  };
  enum class Mark : uint8_t { kReduced, kWhole, kExchanged };
  std::vector<std::pair<Dim, Mark>> marks;
  for (const InstrId id : body_of(f)) {
    const Instruction& i = f.instr(id);
    if (i.results.empty()) continue;
    HOSTIR_ASSIGN_OR_RETURN(const ShardingRule rule, rule_of(program, f, i));
    std::map<int, Dim> first;  // by factor
    const auto tie = [&](ValueId value, const ShardingRule::TensorFactors& dims) {
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d].size() > 1) return false;
        const Dim dim{value.index, d};
        for (const int factor : dims[d]) {
          const Dim other = first.try_emplace(factor, dim).first->second;
          if (root(dim) != root(other)) parents[root(dim)] = root(other);
        }
      }
      return true;
    };
    bool simple = true;
    for (size_t o = 0; o < i.operands.size(); ++o)
      simple = tie(i.operands[o].value, rule.operands[o]) && simple;
    for (size_t r = 0; r < i.results.size(); ++r)
      simple = tie(i.results[r], rule.results[r]) && simple;
    if (!simple) return fail(ErrorKind::kUsage, "rule", "a dimension has several factors");
    const auto mark = [&](const std::vector<int>& factors, Mark how) {
      for (const int factor : factors) marks.emplace_back(first.at(factor), how);
    };
    mark(rule.reduction, Mark::kReduced);
    mark(rule.replicated, Mark::kWhole);
    mark(rule.permutation, Mark::kExchanged);
  }
  ShardingRule out;
  std::map<Dim, int> factors;
  const auto tensor = [&](ValueId value) {
    ShardingRule::TensorFactors dims;
    const Shape& shape = shape_of(f.value(value).type);
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto [at, is_new] =
          factors.try_emplace(root({value.index, d}), static_cast<int>(factors.size()));
      if (is_new) out.factor_sizes.push_back(shape[d]);
      dims.push_back({at->second});
    }
    return dims;
  };
  for (const Parameter& p : f.params) out.operands.push_back(tensor(p.value));
  for (const Operand& o : f.instr(body_of(f).back()).operands)
    out.results.push_back(tensor(o.value));
  for (const auto& [dim, how] : marks) {
    const auto at = factors.find(root(dim));
    if (at == factors.end()) continue;  // a dimension on the way
    std::vector<int>& list = how == Mark::kReduced ? out.reduction
                             : how == Mark::kWhole ? out.replicated
                                                   : out.permutation;
    if (std::find(list.begin(), list.end(), at->second) == list.end()) list.push_back(at->second);
  }
  return out;
}

TEST(ShardyPrograms, RulesAreTheSameOrFreer) {
  const CaseFile cases = read_cases("rules.hir");
  Tally tally;
  tally.table =
      "# Shardy's sharding rules\n\nMade by `unit_passes --gtest_filter='ShardyPrograms*'`, which "
      "fails where this table is not what it makes.\n`better`: a cut factor needs less "
      "communication, or is summed over where Shardy's is gathered. Blocked propagation is not "
      "part of our rules.\nAn op that is several ops in the language has the rule of these "
      "together.\n\n| op form | | ours | Shardy's, if different |\n|---|---|---|---|\n";
  const Program program = program_of(text_of(kFolder + "rules.hir"));
  for (const Function& f : program.functions) {
    if (f.kind != FunctionKind::kFusion) continue;
    const std::vector<InstrId>& body = body_of(f);
    const bool is_whole = f.documentation.size() > 1;
    const auto rule = is_whole ? rule_of_fusion(program, f)
                               : rule_without_scalars(program, f, f.instr(body[body.size() - 2]));
    if (!rule) {
      ADD_FAILURE() << f.name << ": " << rule.error().message();
      continue;
    }
    const std::string& theirs = f.documentation.front();
    const std::string verdict = rules_compared(read_rule(rule->to_string()), read_rule(theirs));
    tally.add(verdict, fmt::format("| {} | {} | `{}` | {} |\n", f.name, verdict, rule->to_string(),
                                   verdict == "same" ? "" : "`" + theirs + "`"));
  }
  tally.finish(cases, kWanted);
  expect_table("rules.md", tally.table);
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
