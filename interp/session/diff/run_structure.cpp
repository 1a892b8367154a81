// Describes differences between two runs other than values, in sentences.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {

namespace {

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

// The mesh of all ranks and the kernels' instruction set, which are only in the tables.
Expected<std::pair<std::string, std::string>> mesh_and_kernel_set(const LogView& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      const LogTable table,
      log.query("SELECT (SELECT '@' || name || ' = <' || axes || '>' FROM mesh WHERE world = 1), "
                "kernel_set FROM run",
                1));
  const auto text = [&](size_t i) {
    if (table.rows.empty()) return std::string();
    const auto* cell = std::get_if<std::string>(&table.rows.front()[i]);
    return cell ? *cell : std::string();
  };
  return std::pair(text(0), text(1));
}

// A row (what, how) in which two logs differ. Rows with equal `what` are numbered; `none` stands
// for a row that one log lacks.
struct Answers {
  std::string what;
  std::array<std::string, 2> how;
};
Expected<std::vector<Answers>> differing_rows(const LogView& a, const LogView& b,
                                              std::string_view sql, std::string_view none) {
  std::vector<Answers> all;
  std::map<std::pair<std::string, int64_t>, size_t> known;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    HOSTIR_ASSIGN_OR_RETURN(const LogTable table,
                            (side == 0 ? a : b).query(sql, std::numeric_limits<int64_t>::max()));
    std::map<std::string, int64_t> seen;
    for (const auto& row : table.rows) {
      const auto& what = std::get<std::string>(row[0]);
      const auto [at, added] = known.try_emplace({what, seen[what]++}, all.size());
      if (added) all.push_back({what, {std::string(none), std::string(none)}});
      all[at->second].how[side] = std::get<std::string>(row[1]);
    }
  }
  std::erase_if(all, [](const Answers& row) { return row.how[0] == row.how[1]; });
  return all;
}

class Facts {
 public:
  explicit Facts(RunDiff& diff) : diff_(diff), a_(*diff.a.log), b_(*diff.b.log) {}

  Expected<void> surroundings() {
    HOSTIR_ASSIGN_OR_RETURN(const auto more_a, mesh_and_kernel_set(a_));
    HOSTIR_ASSIGN_OR_RETURN(const auto more_b, mesh_and_kernel_set(b_));
    const LogRun& a = a_.run();
    const LogRun& b = b_.run();
    const bool ranks =
        differ("Number of ranks", std::to_string(a.rank_count), std::to_string(b.rank_count));
    const bool mesh = differ("Mesh", more_a.first, more_b.first);
    const bool backend = differ("Backend", a.backend, b.backend);
    bool kernels = differ("Kernels", a.property("kernels"), b.property("kernels"));
    // A log that is still being written does not have it yet.
    if (!more_a.second.empty() && !more_b.second.empty())
      kernels = differ("Instruction set of the kernels", more_a.second, more_b.second) || kernels;
    const bool machine = differ("Machine", a.machine, b.machine);
    if (a.machine == b.machine && a.machine_text != b.machine_text)
      add(Kind::kSurroundings, fmt::format("The machine @{} is described differently.", a.machine));
    differ("Schedule", fmt::format("{} of seed {}", a.schedule, a.seed),
           fmt::format("{} of seed {}", b.schedule, b.seed));
    std::vector<std::string> causes;
    if (ranks || mesh) causes.emplace_back("the mesh");
    if (backend) causes.emplace_back("the backend");
    if (kernels) causes.emplace_back("the kernels");
    if (machine || a.machine_text != b.machine_text)
      causes.emplace_back("the machine and with it the algorithms of collectives");
    if (!causes.empty())
      diff_.other_order = fmt::format(
          "the runs differ in {}, so sums may be added in another order", fmt::join(causes, ", "));
    return {};
  }

  void inputs() {
    const std::vector<LogInput>& all_a = diff_.a.writes->inputs;
    const std::vector<LogInput>& all_b = diff_.b.writes->inputs;
    for (const LogInput& in_a : all_a) {
      const auto in_b = std::find_if(all_b.begin(), all_b.end(),
                                     [&](const LogInput& i) { return i.name == in_a.name; });
      if (in_b == all_b.end()) {
        add(Kind::kInput, fmt::format("Only A has an input %{}.", in_a.name));
      } else if (in_b->digest != in_a.digest) {
        diff_.changed_values.push_back(in_a.name);
        const bool said = in_a.expression != in_b->expression;
        add(Kind::kInput, said ? fmt::format("Input %{} is {} in A, {} in B.", in_a.name,
                                             or_none(in_a.expression), or_none(in_b->expression))
                               : fmt::format("Input %{} has other contents.", in_a.name));
      }
    }
    for (const LogInput& in_b : all_b) {
      const bool known = std::any_of(all_a.begin(), all_a.end(),
                                     [&](const LogInput& i) { return i.name == in_b.name; });
      if (!known) add(Kind::kInput, fmt::format("Only B has an input %{}.", in_b.name));
    }
  }

  void edits() {
    const auto one_sided = [&](const DiffSide& some, const DiffSide& others, char name) {
      for (const RunEdit& e : some.writes->edits) {
        const bool same = std::any_of(
            others.writes->edits.begin(), others.writes->edits.end(), [&](const RunEdit& o) {
              return o.value == e.value && o.ranks == e.ranks && o.data == e.data &&
                     o.offset_bytes == e.offset_bytes && o.decision == e.decision;
            });
        if (same) continue;
        diff_.changed_values.push_back(e.value);
        add(Kind::kEdit, fmt::format("In {} %{} was set by hand on rank{} {}, after {} decisions.",
                                     name, e.value, e.ranks.size() == 1 ? "" : "s",
                                     fmt::join(e.ranks, ", "), e.decision));
      }
    };
    one_sided(diff_.a, diff_.b, 'A');
    one_sided(diff_.b, diff_.a, 'B');
  }

  void program(const std::vector<CodeIndex>& b_to_a) {
    if (a_.run().entry != b_.run().entry)
      add(Kind::kProgram, fmt::format("A runs @{}, B runs @{}.", a_.run().entry, b_.run().entry));
    const auto& in_a = a_.instructions();
    const auto& in_b = b_.instructions();
    std::vector<bool> matched(in_a.size(), false);
    int64_t only_b = 0;
    int64_t changed = 0;
    std::string first;
    for (size_t i = 0; i < in_b.size(); ++i) {
      const CodeIndex a = b_to_a[i];
      if (a == kNoInstruction) {
        ++only_b;
        if (first.empty())
          first = fmt::format("{} `{}` is only in B", in_b[i].address, in_b[i].text);
        continue;
      }
      matched[a] = true;
      if (in_a[a].text == in_b[i].text) continue;
      ++changed;
      if (first.empty())
        first =
            fmt::format("{} is `{}` in A, `{}` in B", in_b[i].address, in_a[a].text, in_b[i].text);
    }
    const auto only_a = std::count(matched.begin(), matched.end(), false);
    if (first.empty() && only_a > 0) {
      const auto at =
          static_cast<size_t>(std::find(matched.begin(), matched.end(), false) - matched.begin());
      first = fmt::format("{} `{}` is only in A", in_a[at].address, in_a[at].text);
    }
    if (first.empty()) return;
    add(Kind::kProgram,
        fmt::format("Another program: {}. Of {} instructions, {} are only in A, {} only in B, {} "
                    "are changed.",
                    first, std::max(in_a.size(), in_b.size()), only_a, only_b, changed));
  }

  void writes() {
    int64_t only_a = 0;
    int64_t only_b = 0;
    const DiffRow* first_a = nullptr;
    const DiffRow* first_b = nullptr;
    for (const DiffRow& row : diff_.rows) {
      if (row.outcome == WriteOutcome::kOnlyA && only_a++ == 0) first_a = &row;
      if (row.outcome == WriteOutcome::kOnlyB && only_b++ == 0) first_b = &row;
    }
    const auto say = [&](int64_t count, const DiffRow* first, char name) {
      if (count == 0) return;
      add(Kind::kWrites,
          count == 1 ? fmt::format("One write is only in {}: {}.", name, diff_.place(*first))
                     : fmt::format("{} writes are only in {}, the first: {}.", count, name,
                                   diff_.place(*first)));
    };
    const auto none = [](const DiffSide& side) {
      return side.writes->writes.empty() && side.writes->finished;
    };
    if (none(diff_.a) && none(diff_.b)) {
      add(Kind::kSurroundings,
          "Neither log holds values of writes (--trace-values none): none can be compared.");
    } else if (none(diff_.a) || none(diff_.b)) {
      return add(Kind::kWrites, fmt::format("The log of {} holds no values of writes "
                                            "(--trace-values none): nothing can be compared.",
                                            none(diff_.a) ? 'A' : 'B'));
    }
    say(only_a, first_a, 'A');
    say(only_b, first_b, 'B');
  }

  // Compares tables of logs that are complete or were cut; a live log has more rows to come.
  Expected<void> tables() {
    if (a_.run().ending == LogEnding::kRunning || b_.run().ending == LogEnding::kRunning) return {};
    const bool same_program = std::none_of(diff_.facts.begin(), diff_.facts.end(),
                                           [](auto& fact) { return fact.kind == Kind::kProgram; });
    if (same_program) {
      HOSTIR_TRY(differing(
          "SELECT printf('Rank %d executed %s `%s`', e.rank, i.address, i.text), CASE COUNT(*) "
          "WHEN 1 THEN 'once' ELSE COUNT(*) || ' times' END FROM event e JOIN instruction i "
          "ON i.id = e.instruction GROUP BY e.rank, e.instruction",
          " ", "never"));
    }
    return differing(
        "SELECT printf('Communicator %s, group %d, sequence number %d', communicator, group_index, "
        "sequence), printf('%s%s of %d bytes %s, %d of %d ranks arrived', kind, "
        "ifnull(' ' || reduction, ''), bytes, dtype, arrived, member_count) FROM v_collectives "
        "ORDER BY communicator, group_index, sequence, address",
        ": ", "no such meeting");
  }

  void ends() {
    // Use what was read from each side: both may be the same log, which may still grow.
    const std::vector<FaultRecord>& in_a = diff_.a.writes->faults;
    const std::vector<FaultRecord>& in_b = diff_.b.writes->faults;
    const auto text = [](const std::vector<FaultRecord>& faults, size_t i) {
      return i < faults.size() ? faults[i].sentence : std::string("nothing went wrong.");
    };
    for (size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i) {
      if (text(in_a, i) == text(in_b, i)) continue;
      add(Kind::kEnd, fmt::format("In A: {} In B: {}", text(in_a, i), text(in_b, i)));
      break;
    }
    if (!diff_.a.writes->finished) add(Kind::kEnd, "A had not ended when it was kept.");
    if (!diff_.b.writes->finished)
      add(Kind::kEnd, "B has not ended yet: continue it to compare more.");
  }

 private:
  using Kind = DiffFact::Kind;

  // The first difference of two tables of (what, how), and how many more there are.
  Expected<void> differing(std::string_view sql, std::string_view between, std::string_view none) {
    HOSTIR_ASSIGN_OR_RETURN(const auto rows, differing_rows(a_, b_, sql, none));
    if (rows.empty()) return {};
    const auto& [what, how] = rows.front();
    add(Kind::kWrites,
        fmt::format("{}{}{} in A, {} in B{}.", what, between, how[0], how[1],
                    rows.size() > 1 ? fmt::format(" (and {} more)", rows.size() - 1) : ""));
    return {};
  }
  bool differ(std::string_view what, const std::string& in_a, const std::string& in_b) {
    if (in_a == in_b) return false;
    add(Kind::kSurroundings,
        fmt::format("{}: {} in A, {} in B.", what, or_none(in_a), or_none(in_b)));
    return true;
  }
  void add(Kind kind, std::string sentence) { diff_.facts.push_back({kind, std::move(sentence)}); }

  RunDiff& diff_;
  const LogView& a_;
  const LogView& b_;
};

}  // namespace

Expected<void> compare_structure(RunDiff& diff, const std::vector<CodeIndex>& b_to_a) {
  Facts facts(diff);
  facts.program(b_to_a);
  facts.inputs();
  facts.edits();
  HOSTIR_TRY(facts.surroundings());
  facts.writes();
  HOSTIR_TRY(facts.tables());
  facts.ends();
  return {};
}

}  // namespace hostir::interp
