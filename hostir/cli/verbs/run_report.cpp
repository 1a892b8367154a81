#include "hostir/cli/verbs/run_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/ir/inline_value.h"
#include "hostir/ir/tensor_statistics.h"
#include "hostir/support/text.h"
#include "interp/core/interpreter.h"

namespace hostir::cli {

namespace {

constexpr int64_t kMaxPrintedElements = 64;

}  // namespace

std::string describe_value(const std::string& name, const Tensor& tensor) {
  if (tensor.element_count() <= kMaxPrintedElements) {
    return fmt::format("%{} = {}\n", name, format_inline_value(tensor));
  }
  const TensorStatistics s = tensor_statistics(tensor);
  std::string out = fmt::format("%{} : {}  min {:.6g}  max {:.6g}  mean {:.6g}", name,
                                format_shape_text(tensor.dtype, tensor.extents), s.finite_min,
                                s.finite_max, s.finite_mean);
  if (s.nans > 0) out += fmt::format("  NaN {}", s.nans);
  if (s.infs > 0) out += fmt::format("  Inf {}", s.infs);
  return out + "\n";
}

std::string describe_shape(const std::string& name, const Tensor& tensor) {
  return fmt::format("%{} : {}, not computed\n", name,
                     format_shape_text(tensor.dtype, tensor.extents));
}

std::string describe_shards(const interp::NamedOutput& output) {
  std::string shape;
  const size_t rank = output.global.extents.size();
  for (size_t d = 0; d < rank; ++d) {
    std::string sizes;
    bool same = true;
    for (size_t r = 0; r < output.local.size(); ++r) {
      const std::string n = std::to_string(output.local[r][d]);
      same = same && output.local[r][d] == output.local[0][d];
      sizes += (r ? "|" : "") + n;
    }
    if (same && !output.local.empty()) sizes = std::to_string(output.local[0][d]);
    shape += (d ? " x " : "") + sizes;
  }
  const Sharding* sharding = sharding_of(output.type);
  return fmt::format("  %{} local {}{}\n", output.name, shape.empty() ? "scalar" : shape,
                     sharding ? "  " + sharding->to_string() + "  " + sharding->to_pytorch() : "");
}

std::string describe_summary(const interp::RunResult& result, bool virtual_time,
                             const std::string& reasons) {
  std::string out;
  if (result.collectives.empty()) out += "collectives: none\n";
  for (const interp::CollectiveCount& c : result.collectives) {
    const std::string reduction = c.reduction ? " " + std::string(name(*c.reduction)) : "";
    const std::string tensors = c.tensors > 1 ? fmt::format(" of {} tensors", c.tensors) : "";
    out += fmt::format("{} x {}{}{} over {}, {} per rank\n", c.count, c.kind, reduction, tensors,
                       c.over, bytes_text(c.bytes));
  }
  out += reasons;
  int64_t peak = 0;
  for (const int64_t p : result.peak_bytes) peak = std::max(peak, p);
  out += fmt::format("peak memory {} per rank (largest of {})\n", bytes_text(peak),
                     counted(result.peak_bytes.size(), "rank"));
  out += fmt::format("{} on all ranks",
                     counted(static_cast<size_t>(result.steps), "host instruction"));
  if (virtual_time)
    out +=
        fmt::format(", {} of simulated time", time_text(static_cast<double>(result.finished_ns)));
  return out + "\n";
}

std::string describe_reasons(const interp::Prepared& prepared) {
  constexpr size_t kMost = 3;
  std::string out;
  std::set<std::string> said;
  size_t more = 0;
  for (const ExplainRecord& r : prepared.explanation) {
    const bool moves = r.what.starts_with("all_gather") || r.what.starts_with("all_to_all");
    if (r.pass != "reshard" || !moves) continue;
    const std::string why = r.sentence.substr(0, r.sentence.find(';'));  // without the cost
    if (!said.insert(r.what + why).second) continue;
    if (said.size() > kMost) {
      ++more;
    } else {
      out += fmt::format("  {} of %{}: {}\n", r.what, r.value, why);
    }
  }
  if (more > 0)
    out += fmt::format("  {} more: `hostir lower` with --explain @{}\n", more, prepared.function);
  return out;
}

void note_graphs(Terminal& terminal, const interp::Interpreter& interpreter) {
  for (const auto& [name, value] : interpreter.backend().properties()) {
    if (name == "graphs") terminal.note("graphs: " + value);
  }
}

}  // namespace hostir::cli
