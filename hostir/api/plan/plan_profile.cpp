#include "hostir/api/plan/plan_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/passes/redistribute/redistribute_cost.h"
#include "hostir/support/text.h"
#include "interp/session/prepare/run_summary.h"

namespace hostir::api {

namespace {

constexpr std::string_view kGradient = "d_";  // the names that differentiate() gives

// `d_w1` of `d_w1_scattered`, if `w1` is trained.
bool is_gradient(std::string_view value, const std::set<std::string>& trained) {
  if (!value.starts_with(kGradient)) return false;
  const std::string_view rest = value.substr(kGradient.size());
  return std::any_of(trained.begin(), trained.end(), [&](const std::string& name) {
    return rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '_');
  });
}

std::string name_of(const interp::Code& code, uint32_t reg) {
  const std::string name = code.register_name(reg);
  return name.starts_with('%') ? name.substr(1) : name;
}

int64_t bytes_of_largest_part(const interp::Code& code, uint32_t reg) {
  const interp::LayoutIndex layout = code.registers[reg].layout;
  const Function& entry = *code.functions.front();
  const auto id = entry.find_value(name_of(code, reg));
  if (layout == interp::kNoLayout && !id) return 0;
  const Type& type =
      layout != interp::kNoLayout ? code.layouts[layout].type : entry.value(*id).type;
  if (std::holds_alternative<TensorType>(type) || std::holds_alternative<ShardType>(type)) {
    const Sharding* sharding = sharding_of(type);
    const Mesh* mesh = sharding == nullptr ? nullptr : code.program->find_mesh(sharding->mesh);
    const double elems = mesh == nullptr ? largest_local_elems(Mesh(), shape_of(type), Sharding())
                                         : largest_local_elems(*mesh, shape_of(type), *sharding);
    return static_cast<int64_t>(elems) * size_bytes(dtype_of(type));
  }
  return 0;
}

// `{tp, x}` for communicators over `{tp, x}` and over `{x, tp}`.
std::string axes_of(const interp::Communicator& comm) {
  const std::string over = interp::describe_axes(comm);
  if (!over.starts_with('{') || !over.ends_with('}')) return over;
  std::vector<std::string> axes;
  for (const std::string_view axis : split(std::string_view(over).substr(1, over.size() - 2), ','))
    axes.emplace_back(axis.substr(axis.starts_with(' ') ? 1 : 0));
  std::sort(axes.begin(), axes.end());
  return fmt::format("{{{}}}", fmt::join(axes, ", "));
}

// The buffers that only serve communication, by name.
std::set<std::string> buffers_of_communication(const interp::Code& code) {
  std::map<std::string, std::string> viewed;
  const auto buffer = [&](uint32_t reg) {
    std::string name = name_of(code, reg);
    for (auto at = viewed.find(name); at != viewed.end(); at = viewed.find(name)) name = at->second;
    return name;
  };
  std::set<std::string> received, sent, read, written;
  for (interp::CodeIndex c = 0; c < code.instructions.size(); ++c) {
    const interp::CodeInstruction& i = code.instructions[c];
    const Instruction& source = code.source(c);
    if ((i.kind == OpKind::subview || i.kind == OpKind::reinterpret) && !i.results.empty()) {
      viewed.emplace(name_of(code, i.results.front()), name_of(code, i.operands.front()));
      continue;
    }
    const bool moves = record(i.kind).op_class == OpClass::kCommunication;
    for (size_t o = 0; o < std::min(i.operands.size(), source.operands.size()); ++o) {
      if (i.operands[o] == interp::kNoRegister) continue;
      const Access access = source.operands[o].access;
      if (access == Access::kUse) continue;
      if (access != Access::kWrite) (moves ? sent : read).insert(buffer(i.operands[o]));
      if (moves && access == Access::kReadWrite) continue;  // in place
      if (access != Access::kRead) (moves ? received : written).insert(buffer(i.operands[o]));
    }
  }
  std::set<std::string> out;
  std::set_difference(received.begin(), received.end(), written.begin(), written.end(),
                      std::inserter(out, out.end()));
  std::set_difference(sent.begin(), sent.end(), read.begin(), read.end(),
                      std::inserter(out, out.end()));
  return out;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> MemorySplit::parts() const {
  std::vector<std::pair<std::string, int64_t>> out = {
      {"parameters", parameters}, {"inputs", inputs},           {"gradients", gradients},
      {"optimizer", optimizer},   {"activations", activations}, {"communication", communication}};
  std::erase_if(out, [](const auto& part) { return part.second == 0; });
  return out;
}

std::set<std::string> trained_parameters(const Function& fusion) {
  std::set<std::string> out;
  for (const Parameter& p : fusion.params) {
    const std::string& name = fusion.value(p.value).name;
    const auto is_its = [&](const ResultDecl& r) {
      return r.name == std::string(kGradient) + name;
    };
    if (std::any_of(fusion.results.begin(), fusion.results.end(), is_its)) out.insert(name);
  }
  return out;
}

RunProfile::RunProfile(const interp::Code& code, std::set<std::string> trained,
                       int64_t optimizer_bytes)
    : ForwardingSink(nullptr), code_(code), trained_(std::move(trained)) {
  communication_ = buffers_of_communication(code);
  held_.optimizer = optimizer_bytes;
  for (const uint32_t reg : code.parameters) {
    const std::string name = name_of(code, reg);
    const bool is_parameter = trained_.empty() || trained_.contains(name);
    (is_parameter ? held_.parameters : held_.inputs) += bytes_of_largest_part(code, reg);
    communication_.erase(name);
  }
  at_peak_ = held_;
}

int64_t& RunProfile::part_of(const std::string& value) {
  if (is_gradient(value, trained_)) return held_.gradients;
  return communication_.contains(value) ? held_.communication : held_.activations;
}

void RunProfile::issued(const interp::IssuedRecord& record) {
  if (record.rank == 0 && record.task != interp::kNoTask) open_.emplace(record.task, record);
}

void RunProfile::finished(const interp::FinishedRecord& record) {
  if (record.live_bytes >= 0) live_bytes_.push_back(record.live_bytes + held_.optimizer);
  const auto at = record.rank == 0 ? open_.find(record.task) : open_.end();
  if (at == open_.end()) return;
  const interp::IssuedRecord issue = at->second;
  open_.erase(at);
  const interp::CodeInstruction& i = code_.instructions[issue.code];
  if (i.kind == OpKind::alloc) {
    const std::string name = name_of(code_, i.results.front());
    int64_t bytes = issue.bytes;
    // Reused storage gets another owner and keeps its size.
    for (const uint32_t reg : i.operands) {
      const auto before =
          reg == interp::kNoRegister ? bytes_.end() : bytes_.find(name_of(code_, reg));
      if (before == bytes_.end()) continue;
      bytes = before->second;
      part_of(before->first) -= bytes;
      bytes_.erase(before);
    }
    bytes_[name] += bytes;
    part_of(name) += bytes;
    if (held_.total() > at_peak_.total()) at_peak_ = held_;
  } else if (i.kind == OpKind::free) {
    const auto freed = bytes_.find(name_of(code_, i.operands.front()));
    if (freed == bytes_.end()) return;
    part_of(freed->first) -= freed->second;
    bytes_.erase(freed);
  } else {
    const int64_t ns = record.finished_ns - record.started_ns;
    const interp::CommIndex comm = i.kind == OpKind::group && i.jump != interp::kNoCode
                                       ? code_.instructions[i.jump].comm
                                       : i.comm;
    if (comm == interp::kNoComm) {
      times_.compute_ns += ns;
    } else {
      times_.collectives_ns[axes_of(code_.communicators[comm])] += ns;
    }
  }
}

}  // namespace hostir::api
