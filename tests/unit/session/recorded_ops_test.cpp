// Every op and placement of the table recorded from PyTorch (tests/truth/ops_w4.csv): the values
// are those of the op without shardings, and communication is not larger.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "hostir/ops/collective_cost.h"
#include "interp/session/checks/check_unsharded.h"
#include "tests/unit/session/live_run.h"

namespace hostir::interp {
namespace {

struct RecordedOp {
  std::vector<std::string> operands;  // shapes
  std::string text;
  std::string result;
};

// The ops of the table, on shapes of our own.
const std::map<std::string, RecordedOp> kRecordedOps = {
    {"mm", {{"8x12", "12x16"}, "matmul %a, %b", "8x16"}},
    {"add", {{"8x12", "8x12"}, "add %a, %b", "8x12"}},
    {"mul", {{"8x12", "8x12"}, "mul %a, %b", "8x12"}},
    {"relu", {{"8x12"}, "relu %a", "8x12"}},
    {"gelu", {{"8x12"}, "gelu %a", "8x12"}},
    {"sum0", {{"8x12"}, "reduce_sum %a {dims = [0]}", "12"}},
    {"sum1", {{"8x12"}, "reduce_sum %a {dims = [1]}", "8"}},
    {"sum", {{"8x12"}, "reduce_sum %a {dims = [0, 1]}", ""}},
    {"mean0", {{"8x12"}, "reduce_mean %a {dims = [0]}", "12"}},
    {"max1", {{"8x12"}, "reduce_max %a {dims = [1]}", "8"}},
    {"softmax1", {{"8x12"}, "softmax %a {dim = 1}", "8x12"}},
    {"t", {{"8x12"}, "transpose %a {permutation = [1, 0]}", "12x8"}},
    {"layer_norm", {{"8x12"}, "layer_norm %a {dims = [1]}", "8x12"}},
    {"bmm", {{"4x8x12", "4x12x16"}, "matmul %a, %b", "4x8x16"}},
    {"bcast_add", {{"8x12", "12"}, "add %a, %b", "8x12"}},
    {"cumsum0", {{"8x12"}, "cumsum %a {dim = 0}", "8x12"}},
    {"view_merge", {{"4x8x12"}, "reshape %a {shape = [32, 12]}", "32x12"}},
    {"view_split", {{"32x12"}, "reshape %a {shape = [4, 8, 12]}", "4x8x12"}},
    {"cat0", {{"8x12", "8x12"}, "concat %a, %b {dim = 0}", "16x12"}},
    {"slice0", {{"8x12"}, "slice %a {start = [1, 0], limit = [7, 12]}", "6x12"}},
    {"linear_bias", {{"8x12", "16x12", "16"}, "linear %a, %b, %c", "8x16"}}};

// `tensor<8x12xf32> <@m, [{x}, {}]>` for S0.
std::string placed(const std::string& shape, const std::string& placement,
                   std::string_view reduction) {
  const auto rank =
      static_cast<size_t>(shape.empty() ? 0 : 1 + std::count(shape.begin(), shape.end(), 'x'));
  std::string dims;
  for (size_t d = 0; d < rank; ++d) {
    const bool cut = placement == "S" + std::to_string(d);
    dims += std::string(d > 0 ? ", " : "") + (cut ? "{x}" : "{}");
  }
  return "tensor<" + shape + (rank > 0 ? "x" : "") + "f32> <@m, [" + dims + "]" +
         (placement == "P" ? ", unreduced=" + std::string(reduction) + "{x}" : "") + ">";
}

constexpr int64_t kRanks = 4;

struct Row {
  std::string text;  // of the table
  std::string op;
  std::vector<std::string> operands;  // placements
  std::string result;
  std::map<std::string, int> comms;  // by PyTorch's name
};

std::vector<Row> recorded_rows() {
  std::ifstream in("tests/truth/ops_w4.csv");
  std::vector<Row> out;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    if (line.find('{') == std::string::npos) continue;  // PyTorch refuses it
    Row& row = out.emplace_back();
    row.text = line;
    std::istringstream cells(line);
    std::string placements, counts;
    std::getline(cells, row.op, ',');
    std::getline(cells, placements, ',');
    std::getline(cells, row.result, ',');
    std::getline(cells, counts);
    std::istringstream words(placements);
    for (std::string word; words >> word;) row.operands.push_back(word);
    // {""all_reduce"": 1; ""shard_dim_alltoall"": 1}
    std::erase(counts, '"');
    std::replace_if(
        counts.begin(), counts.end(),
        [](char c) { return std::string("{};:,").find(c) != std::string::npos; }, ' ');
    std::istringstream entries(counts.substr(0, counts.rfind('1')));
    int count = 0;
    for (std::string kind; entries >> kind >> count;) row.comms[kind] = count;
  }
  return out;
}

int64_t bytes_of(const std::string& shape) {
  int64_t out = 4;
  std::istringstream dims(shape);
  for (std::string dim; std::getline(dims, dim, 'x');) out *= std::stoll(dim);
  return out;
}

// The row as a fusion, with these placements of the operands.
std::string fusion_of(const Row& row, const RecordedOp& op,
                      const std::vector<std::string>& placements) {
  std::string out = "mesh @m = <x=4>\nfusion @f(";
  for (size_t o = 0; o < placements.size(); ++o) {
    out += std::string(o > 0 ? ", %" : "%") + "abc"[o] + ": " +
           placed(op.operands[o], placements[o], "");
  }
  const std::string_view reduction = row.op == "max1" ? "max" : "";
  return out + ") -> (%y: " + placed(op.result, row.result, reduction) + ") {\n  %y = " + op.text +
         "\n  return %y\n}";
}

std::shared_ptr<const Prepared> prepared_row(const RecordedOp& op, const std::string& text) {
  std::vector<NamedInput> inputs;
  for (size_t o = 0; o < op.operands.size(); ++o)
    inputs.push_back(generated(std::string(1, "abc"[o]), "normal(" + std::to_string(o) + ")"));
  const auto program = text::parse_program(text);
  EXPECT_TRUE(program) << text << program.error().message();
  PrepareOptions options;
  options.function = "f";
  const auto prepared = prepare(*program, inputs, options);
  EXPECT_TRUE(prepared) << text << prepared.error().message();
  return prepared.value_or(nullptr);
}

RunResult run_row(const Prepared& prepared) {
  RunOptions options;
  options.backend.machine = *find_builtin_machine("h200x8");
  const auto result = run(prepared, make_sim, options);
  EXPECT_TRUE(result) << result.error().message();
  return result.value_or(RunResult{});
}

// PyTorch's collective from one placement to another; empty if it needs none, nullopt if it has
// none.
std::optional<std::string> collective_between(const std::string& from, const std::string& to) {
  if (from == to || from == "R") return "";
  if (from == "P") return to == "R" ? "all_reduce" : "reduce_scatter_tensor";
  if (to == "P") return std::nullopt;
  return to == "R" ? "all_gather_into_tensor" : "shard_dim_alltoall";
}

double link_bytes(const std::string& collective, int64_t bytes) {
  static const std::map<std::string, OpKind> kKinds = {
      {"all_gather_into_tensor", OpKind::all_gather},
      {"shard_dim_alltoall", OpKind::all_to_all},
      {"reduce_scatter_tensor", OpKind::reduce_scatter},
      {"all_reduce", OpKind::all_reduce}};
  const OpKind kind = kKinds.at(collective);
  // all_to_all exchanges the parts that the ranks hold.
  if (kind == OpKind::all_to_all) bytes /= kRanks;
  return wire_bytes(kind, static_cast<double>(bytes), kRanks);
}

// PyTorch moves the operands to other placements and then communicates no more. The fewest bytes
// over a link of those moves that use the recorded collectives and from which the op itself makes
// the result.
std::optional<double> recorded_bytes(const Row& row, const RecordedOp& op) {
  std::vector<std::vector<std::string>> targets = {{}};
  for (const std::string& shape : op.operands) {
    std::vector<std::string> choices = {"R", "P", "S0"};
    if (shape.find('x') != std::string::npos) choices.emplace_back("S1");
    if (std::count(shape.begin(), shape.end(), 'x') > 1) choices.emplace_back("S2");
    std::vector<std::vector<std::string>> longer;
    for (const auto& begun : targets) {
      for (const std::string& choice : choices) {
        longer.push_back(begun);
        longer.back().push_back(choice);
      }
    }
    targets = std::move(longer);
  }
  std::optional<double> fewest;
  for (const auto& target : targets) {
    std::map<std::string, int> used;
    double bytes = 0;
    bool exists = true;
    for (size_t o = 0; o < target.size(); ++o) {
      const auto collective = collective_between(row.operands[o], target[o]);
      exists = exists && collective;
      if (!collective || collective->empty()) continue;
      ++used[*collective];
      bytes += link_bytes(*collective, bytes_of(op.operands[o]));
    }
    if (!exists || used != row.comms || (fewest && *fewest <= bytes)) continue;
    const auto prepared = prepared_row(op, fusion_of(row, op, target));
    if (prepared != nullptr && run_row(*prepared).collectives.empty()) fewest = bytes;
  }
  return fewest;
}

// Rows that move more bytes, with the reason. A row that no longer does fails.
const std::map<std::string, std::string> kMoreBytes = {
    {"cat0,P S0,R", "one all_reduce of the result instead of an all_reduce and an all_gather"},
    {"cat0,S0 P,R", "one all_reduce of the result instead of an all_gather and an all_reduce"}};

TEST(RecordedOps, SameValuesAndNoMoreCommunication) {
  const std::vector<Row> rows = recorded_rows();
  EXPECT_GE(rows.size(), 200U);
  std::set<std::string> seen;
  RunOptions options;
  options.backend.machine = *find_builtin_machine("h200x8");
  for (const Row& row : rows) {
    const auto known = kRecordedOps.find(row.op);
    ASSERT_NE(known, kRecordedOps.end()) << row.text;
    seen.insert(row.op);
    const RecordedOp& op = known->second;
    ASSERT_EQ(row.operands.size(), op.operands.size()) << row.text;
    const std::string text = fusion_of(row, op, row.operands);
    const auto prepared = prepared_row(op, text);
    ASSERT_NE(prepared, nullptr);
    int64_t ours = 0;
    double bytes = 0;
    std::string used;
    for (const CollectiveCount& c : run_row(*prepared).collectives) {
      ours += c.count;
      used += c.kind + " of " + std::to_string(c.bytes) + " bytes, ";
      bytes += static_cast<double>(c.count) *
               wire_bytes(*find_op(c.kind), static_cast<double>(c.bytes), kRanks);
    }
    int64_t allowed = 0;
    for (const auto& [kind, count] : row.comms) allowed += count;
    EXPECT_LE(ours, allowed) << row.text << "\n" << text;
    const auto theirs = row.comms.empty() ? 0 : recorded_bytes(row, op);
    EXPECT_TRUE(theirs) << "no plan with these collectives: " << row.text << " " << used << bytes;
    const bool may_be_more = kMoreBytes.contains(row.text.substr(0, row.text.find(",\"")));
    EXPECT_EQ(bytes > theirs.value_or(bytes), may_be_more) << row.text << "\n"
                                                           << used << "\n"
                                                           << text;
    const auto report = check_unsharded(*prepared, make_sim, options, Tolerance());
    ASSERT_TRUE(report) << text << report.error().message();
    EXPECT_FALSE(report->difference) << row.text << "\n" << report->difference->sentence;
  }
  EXPECT_EQ(seen.size(), kRecordedOps.size());
}

}  // namespace
}  // namespace hostir::interp
