// Compile time for fusions of growing length.
//
//   lower_bench
// Prints one line per length: seconds, best of three, and the ratio to the previous line; 4 would
// be linear, 16 quadratic. Exits with 1 if the ratio is 10 or more.
//
//   lower_bench FILE [TIMES]
// Lowers the gradient of the file's first fusion, and prints the best time of each pass and of all.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hostir/ops/differentiate.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/pass_list.h"
#include "hostir/text/parse/parser.h"

namespace hostir {
namespace {

// Pairs of a product and a tanh, with weights cut alternately by columns and rows. Each pair gives
// two kernels, an all_reduce or all_gather, and their allocs, waits and frees.
Program chain(int pairs) {
  std::string text =
      "mesh @m = <tp=2>\n"
      "fusion @f(%x: tensor<4x8xf32> <@m, [{}, {}]>, %w0: tensor<8x8xf32> <@m, [{}, {tp}]>,\n"
      "          %w1: tensor<8x8xf32> <@m, [{tp}, {}]>) -> (tensor<4x8xf32>) {\n";
  std::string value = "x";
  for (int i = 0; i < pairs; ++i) {
    const std::string n = std::to_string(i);
    text += "  %a" + n + " = matmul %" + value + ", %w" + std::to_string(i % 2) + "\n";
    text += "  %b" + n + " = tanh %a" + n + "\n";
    value = "b" + n;
  }
  text += "  return %" + value + "\n}\n";
  auto program = text::parse_program(text);
  return program.value();
}

double seconds_to_lower(int pairs) {
  const Program program = chain(pairs);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)lower(program, "f").value();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

int run_file(const char* path, int times) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Program program = text::parse_program(text).value();
  const auto is_fusion = [](const Function& f) { return f.kind == FunctionKind::kFusion; };
  const Function fusion = *std::ranges::find_if(program.functions, is_fusion);
  program.add_function(differentiate(program, fusion, fusion.name + ".grad", {}).value());
  std::vector<int64_t> best(all_passes().size(), INT64_MAX);
  int64_t best_ns = INT64_MAX;
  for (int t = 0; t < times; ++t) {
    const Lowered lowered = lower(program, fusion.name + ".grad").value();
    int64_t ns = 0;
    for (size_t p = 0; p < lowered.pass_ns.size(); ++p) {
      best[p] = std::min(best[p], lowered.pass_ns[p]);
      ns += lowered.pass_ns[p];
    }
    best_ns = std::min(best_ns, ns);
  }
  for (size_t p = 0; p < best.size(); ++p) {
    fmt::print("{:12} {:8.2f} ms\n", all_passes()[p].name, static_cast<double>(best[p]) / 1e6);
  }
  fmt::print("{:12} {:8.2f} ms\n", "together", static_cast<double>(best_ns) / 1e6);
  return 0;
}

int run() {
  double before = 0;
  bool linear = true;
  for (const int pairs : {200, 800, 3200}) {
    const double seconds = seconds_to_lower(pairs);
    fmt::print("{:5} pairs  {:8.3f} s", pairs, seconds);
    if (before > 0) fmt::print("  x {:.1f}", seconds / before);
    fmt::print("\n");
    linear = linear && (before <= 0 || seconds < 10 * before);
    before = seconds;
  }
  return linear ? 0 : 1;
}

}  // namespace
}  // namespace hostir

int main(int argc, char** argv) {
  if (argc < 2) return hostir::run();
  return hostir::run_file(argv[1], argc > 2 ? std::atoi(argv[2]) : 5);
}
