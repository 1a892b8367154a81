// The sharding rule of each op against Shardy's (tests/conformance/sharding/rules.hir).
#include <algorithm>
#include <functional>
#include <set>

#include "tests/unit/passes/program_price.h"
#include "tests/unit/passes/shardy_cases.h"

namespace hostir {
namespace {

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

// Derives the rule of a fusion of several ops. Dimensions share a factor if the rule of any op says
// so. Errors: a dimension with several factors.
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
      "communication, or leaves a partial sum where Shardy gathers it. Blocked propagation is not "
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

}  // namespace
}  // namespace hostir
