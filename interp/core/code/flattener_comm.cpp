#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/hash.h"
#include "interp/core/code/flattener.h"

namespace hostir::interp {

namespace {

Expected<void> check_axes(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  for (const AxisRef& a : axes) {
    const auto index = mesh.axis_index(a.name);
    if (!index) {
      return fail(ErrorKind::kInvalid, "code_comm",
                  fmt::format("unknown axis \"{}\" in mesh @{}", a.name, mesh.name));
    }
    const int64_t whole = mesh.axes[*index].size;
    if (!a.whole() && (a.pre < 1 || a.size < 1 || whole % (a.pre * a.size) != 0)) {
      return fail(ErrorKind::kInvalid, "code_comm",
                  fmt::format("sub-axis {} does not divide axis {}={} of mesh @{}", a.to_string(),
                              a.name, whole, mesh.name));
    }
  }
  return {};
}

uint64_t content_key(const Communicator& comm, uint64_t ordinal) {
  std::vector<uint64_t> words = {ordinal};
  for (const auto& group : comm.groups) {
    words.push_back(group.size());
    words.insert(words.end(), group.begin(), group.end());
  }
  return hash_of(words);
}

Expected<void> place_members(Communicator& comm, Rank rank_count) {
  comm.group_of_rank.assign(static_cast<size_t>(rank_count), -1);
  comm.position_of_rank.assign(static_cast<size_t>(rank_count), -1);
  for (size_t g = 0; g < comm.groups.size(); ++g) {
    for (size_t p = 0; p < comm.groups[g].size(); ++p) {
      const Rank rank = comm.groups[g][p];
      if (rank < 0 || rank >= rank_count) {
        return fail(ErrorKind::kInvalid, "code_comm",
                    fmt::format("%{}: rank {} is not in the world of {} ranks", comm.name, rank,
                                rank_count));
      }
      if (comm.group_of_rank[static_cast<size_t>(rank)] >= 0) {
        return fail(ErrorKind::kInvalid, "code_comm",
                    fmt::format("%{}: rank {} is listed twice", comm.name, rank));
      }
      comm.group_of_rank[static_cast<size_t>(rank)] = static_cast<int32_t>(g);
      comm.position_of_rank[static_cast<size_t>(rank)] = static_cast<int32_t>(p);
    }
  }
  return {};
}

}  // namespace

Expected<void> Flattener::communicator(Scope& scope, const Instruction& instruction, InstrId id) {
  const auto key = std::make_pair(scope.function, id.index);
  const ValueId result = instruction.results.empty() ? ValueId() : instruction.results[0];
  if (!result.valid()) return {};
  const auto known = comm_index_.find(key);
  if (known != comm_index_.end()) {
    scope.comms[result.index] = known->second;
    return {};
  }
  Communicator comm;
  comm.name = scope.function->value(result).name;
  const Mesh* mesh = scope.mesh;
  if (const auto* symbol = instruction.attributes.get<Symbol>("mesh")) {
    mesh = program_.find_mesh(symbol->name);
    if (mesh == nullptr) {
      return fail_at(ErrorKind::kInvalid, "code_mesh",
                     fmt::format("unknown mesh @{}", symbol->name), instruction.span);
    }
  }
  if (const auto* axes = instruction.attributes.get<AxisList>("axes")) {
    HOSTIR_TRY(check_axes(*mesh, *axes));
    comm.axes = *axes;
    for (const auto& group : groups_over(*mesh, *axes)) {
      std::vector<Rank>& out = comm.groups.emplace_back();
      for (const int64_t rank : group) out.push_back(static_cast<Rank>(rank));
    }
  } else if (const auto* groups = instruction.attributes.get<IntLists>("groups")) {
    for (const auto& group : *groups) {
      std::vector<Rank>& out = comm.groups.emplace_back();
      for (const int64_t rank : group) {
        const bool fits = rank >= 0 && rank < code_.rank_count;
        out.push_back(fits ? static_cast<Rank>(rank) : kNoRank);
      }
    }
  }
  HOSTIR_TRY(place_members(comm, code_.rank_count));
  const auto same = [&](const Communicator& c) { return c.groups == comm.groups; };
  comm.content_key =
      content_key(comm, static_cast<uint64_t>(std::count_if(code_.communicators.begin(),
                                                            code_.communicators.end(), same)));
  const auto index = static_cast<CommIndex>(code_.communicators.size());
  code_.communicators.push_back(std::move(comm));
  comm_index_.emplace(key, index);
  scope.comms[result.index] = index;
  return {};
}

Expected<void> Flattener::stream(Scope& scope, const Instruction& instruction) {
  if (instruction.results.empty()) return {};
  const auto* name = instruction.attributes.get<std::string>("name");
  const std::string wanted =
      name != nullptr ? *name : scope.function->value(instruction.results[0]).name;
  auto at = std::find(code_.streams.begin(), code_.streams.end(), wanted);
  if (at == code_.streams.end()) at = code_.streams.insert(at, wanted);
  scope.streams[instruction.results[0].index] =
      static_cast<StreamIndex>(at - code_.streams.begin());
  return {};
}

std::string Communicator::to_string() const {
  std::string out = axes.empty() ? "comm groups [" : "comm over {";
  for (size_t i = 0; i < axes.size(); ++i) out += (i ? ", " : "") + axes[i].to_string();
  if (!axes.empty()) return out + "}";
  for (size_t g = 0; g < groups.size(); ++g) {
    out += g ? ",[" : "[";
    for (size_t p = 0; p < groups[g].size(); ++p) {
      out += (p ? "," : "") + std::to_string(groups[g][p]);
    }
    out += "]";
  }
  return out + "]";
}

}  // namespace hostir::interp
