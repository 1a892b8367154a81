// expect_collectives and expect_no: the communication of each rank, in its order.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/axes.h"
#include "hostir/ops/record.h"
#include "hostir/script/expectations.h"
#include "hostir/support/lists.h"
#include "interp/session/prepare/run_summary.h"

namespace hostir::script {
namespace {

using interp::Rank;

// A collective in the form of an expectation line.
struct Line {
  std::string kind;
  std::optional<Reduction> reduction;
  std::vector<std::vector<Rank>> groups;
  std::string over;  // `{tp}`, `{tp} in @stage1`, or groups
  int64_t bytes = 0;
  int64_t times = 1;
  friend bool operator==(const Line&, const Line&) = default;
};

std::string to_text(const Line& line) {
  std::string out = line.kind;
  if (line.reduction) out += fmt::format(" {}", name(*line.reduction));
  out += fmt::format(" over {} {} bytes", line.over, line.bytes);
  if (line.times > 1) out += fmt::format(" x {}", line.times);
  return out;
}

std::string to_text(const CollectiveLine& line) {
  std::string out = line.kind;
  if (line.reduction) out += fmt::format(" {}", name(*line.reduction));
  if (!line.over.empty()) {
    out += " over {";
    for (size_t i = 0; i < line.over.size(); ++i)
      out += (i == 0 ? "" : ", ") + line.over[i].to_string();
    out += "}";
    if (!line.mesh.empty()) out += " in @" + line.mesh;
  }
  if (line.bytes) out += fmt::format(" {} bytes", *line.bytes);
  if (line.times) out += fmt::format(" x {}", *line.times);
  return out;
}

template <class L>
std::string to_text(const std::vector<L>& lines) {
  std::string out;
  for (const L& line : lines) out += "\n    " + to_text(line);
  return out.empty() ? "\n    nothing" : out;
}

using Groups = std::vector<std::vector<Rank>>;

// Empty if the mesh lacks the axes, which can happen after a resize.
Groups groups_of(const Mesh& mesh, const AxisList& axes) {
  Groups out;
  if (!axis_faults(mesh, axes).empty()) return out;
  for (const auto& members : groups_over(mesh, axes))
    out.emplace_back(members.begin(), members.end());
  return out;
}

// The meshes over whose axes a program communicates: that of the function, then those that its
// communicators name.
std::vector<const Mesh*> meshes_of(const interp::Code& code) {
  std::vector<const Mesh*> out;
  if (code.world != nullptr) out.push_back(code.world);
  for (const Function* f : code.functions) {
    for (const Instruction& i : f->instructions) {
      const auto* named = i.kind == OpKind::comm ? i.attributes.get<Symbol>("mesh") : nullptr;
      const Mesh* mesh = named != nullptr ? code.program->find_mesh(named->name) : nullptr;
      if (mesh != nullptr && !contains(out, mesh)) out.push_back(mesh);
    }
  }
  return out;
}

// ` in @stage1` for a communicator over the axes of another mesh than the function's.
std::string mesh_text(const interp::Communicator& comm, const interp::Code& code) {
  if (comm.axes.empty()) return {};
  for (const Mesh* mesh : meshes_of(code)) {
    if (groups_of(*mesh, comm.axes) == comm.groups)
      return mesh == code.world ? std::string() : " in @" + mesh->name;
  }
  return {};
}

Line line_of(const RecordedEvent& event, const interp::Code& code) {
  const interp::CodeInstruction& instruction = code.instructions[event.code];
  const interp::Communicator& comm = code.communicators[instruction.comm];
  Line out;
  out.kind = record(instruction.kind).mnemonic;
  if (const auto* r = code.source(event.code).attributes.get<Reduction>("reduction"))
    out.reduction = *r;
  out.groups = comm.groups;
  out.over = interp::describe_axes(comm) + mesh_text(comm, code);
  out.bytes = event.bytes;
  return out;
}

bool is_communication(const RecordedEvent& event, const interp::Code& code) {
  return record(code.instructions[event.code].kind).op_class == OpClass::kCommunication;
}

// The collectives of one rank, with equal neighbours merged into one line.
std::vector<Line> lines_of(const Execution& execution, const interp::Code& code, Rank rank) {
  std::vector<Line> out;
  for (const RecordedEvent& event : execution.events->events()) {
    if (event.rank != rank || !is_communication(event, code)) continue;
    Line line = line_of(event, code);
    if (!out.empty()) {
      Line last = out.back();
      last.times = 1;
      if (last == line) {
        ++out.back().times;
        continue;
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

// The meshes that `over {x}` may mean: the one it names, else all of the program that have the
// axes.
std::vector<const Mesh*> meant_meshes(const CollectiveLine& line, const interp::Code& code) {
  std::vector<const Mesh*> out;
  for (const Mesh* mesh : meshes_of(code)) {
    const bool named = line.mesh.empty() || line.mesh == mesh->name;
    if (named && axis_faults(*mesh, line.over).empty()) out.push_back(mesh);
  }
  return out;
}

// Reports an ambiguous line: the meshes that it may mean group the ranks differently.
std::string ambiguity(const ExpectCollectives& expect, const interp::Code& code) {
  for (const CollectiveLine& line : expect.lines) {
    if (line.over.empty()) continue;
    const std::vector<const Mesh*> meshes = meant_meshes(line, code);
    for (const Mesh* mesh : meshes) {
      if (groups_of(*mesh, line.over) == groups_of(*meshes.front(), line.over)) continue;
      return fmt::format(
          "expect_collectives: the axes of \"{}\" divide the ranks of @{} and of @{} differently; "
          "name the mesh, as in over {{{}}} in @{}",
          to_text(line), meshes.front()->name, mesh->name, line.over.front().to_string(),
          mesh->name);
    }
  }
  return {};
}

bool same_groups(const CollectiveLine& expected, const Line& actual, const interp::Code& code) {
  if (expected.over.empty()) return true;
  const std::vector<const Mesh*> meshes = meant_meshes(expected, code);
  return !meshes.empty() && groups_of(*meshes.front(), expected.over) == actual.groups;
}

bool matches(const CollectiveLine& expected, const Line& actual, const interp::Code& code) {
  return expected.kind == actual.kind &&
         (!expected.reduction || expected.reduction == actual.reduction) &&
         (!expected.bytes || *expected.bytes == actual.bytes) &&
         same_groups(expected, actual, code);
}

// Walks both lists. A line without `x n` stands for one collective, and several expected lines may
// match one run of equal collectives.
bool matches(const std::vector<CollectiveLine>& expected, std::vector<Line> actual,
             const interp::Code& code) {
  size_t at = 0;
  for (const CollectiveLine& line : expected) {
    int64_t wanted = line.times.value_or(1);
    while (wanted > 0 && at < actual.size() && matches(line, actual[at], code)) {
      const int64_t taken = std::min(wanted, actual[at].times);
      wanted -= taken;
      actual[at].times -= taken;
      if (actual[at].times == 0) ++at;
    }
    if (wanted > 0) return false;
  }
  return at == actual.size();
}

std::string statement_text(const std::vector<Line>& lines) {
  if (lines.empty()) return "expect_collectives {}";
  if (lines.size() == 1) return "expect_collectives { " + to_text(lines.front()) + " }";
  std::string out = "expect_collectives {\n";
  for (const Line& line : lines) out += "    " + to_text(line) + "\n";
  return out + "  }";
}

void check_execution(const ExpectCollectives& expect, const Execution& execution,
                     CheckContext& context) {
  const interp::Code& code = *context.run.prepared->code;
  if (const std::string unclear = ambiguity(expect, code); !unclear.empty())
    return context.fail(execution, unclear);
  bool any = false;
  for (Rank r = 0; r < code.rank_count; ++r) {
    const std::vector<Line> lines = lines_of(execution, code, r);
    if (lines.empty()) continue;  // this rank does not communicate
    any = true;
    if (matches(expect.lines, lines, code)) continue;
    context.fail(execution, fmt::format("rank {} communicated{}\n  expected{}", r, to_text(lines),
                                        to_text(expect.lines)));
    context.update(context.statement.span, statement_text(lines));
    return;
  }
  if (any || expect.lines.empty()) return;
  context.fail(execution,
               fmt::format("no rank communicated anything, expected{}", to_text(expect.lines)));
  context.update(context.statement.span, statement_text({}));
}

}  // namespace

void check(const ExpectCollectives& expect, CheckContext& context) {
  if (context.run.error) return;
  for (const Execution& execution : context.run.executions)
    check_execution(expect, execution, context);
}

void check(const ExpectNo& expect, CheckContext& context) {
  if (context.run.error) return;
  const interp::Code& code = *context.run.prepared->code;
  for (const Execution& execution : context.run.executions) {
    for (const RecordedEvent& event : execution.events->events()) {
      if (!is_communication(event, code)) continue;
      const std::string kind(record(code.instructions[event.code].kind).mnemonic);
      if (!contains(expect.kinds, kind)) continue;
      context.fail(execution, fmt::format("rank {} executed {} at {}", event.rank, kind,
                                          code.address(event.code)));
      break;
    }
  }
}

}  // namespace hostir::script
