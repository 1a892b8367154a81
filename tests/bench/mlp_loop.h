// The TP MLP's host text in a loop, for the interpreter's benchmarks.
#pragma once

#include <fmt/core.h>

#include <string>

namespace hostir::bench {

/// `rows` tokens of width `hidden`, inner width 4 * hidden, over `tp` ranks.
inline std::string mlp_loop(int rows, int hidden, int tp, int iterations,
                            const char* dtype = "f32") {
  const std::string x = fmt::format("{}x{}x{}", rows, hidden, dtype);
  const std::string g = fmt::format("{}x{}x{}", rows, 4 * hidden, dtype);
  const std::string up = fmt::format("{}x{}x{}", hidden, 4 * hidden, dtype);
  const std::string down = fmt::format("{}x{}x{}", 4 * hidden, hidden, dtype);
  std::string text = fmt::format("mesh @m = <tp={}>\n", tp);
  text +=
      fmt::format("kernel @up(%x: tensor<{}>, %w: tensor<{}>) -> (%y: tensor<{}>) {{\n", x, up, g);
  text += "  %h = matmul %x, %w\n  %y = gelu %h {approximate = tanh}\n  return %y\n}\n";
  text += fmt::format("kernel @down(%x: tensor<{}>, %w: tensor<{}>) -> (%y: tensor<{}>) {{\n", g,
                      down, x);
  text += "  %y = matmul %x, %w\n  return %y\n}\n";
  text += fmt::format(
      "host @mlp on @m (%x: shard<{}, @m, [{{}}, {{}}]>, %w1: shard<{}, @m, [{{}}, {{tp}}]>, "
      "%w2: shard<{}, @m, [{{tp}}, {{}}]>) -> () {{\n",
      x, up, down);
  text += "  %c = comm over {tp}\n  %s = stream \"compute\"\n  %n = stream \"comm\"\n";
  text += fmt::format("  %last = for %i in 0..{} carry(%p = none) {{\n", iterations);
  text += fmt::format("    %g = alloc on %s : shard<{}, @m, [{{}}, {{tp}}]>\n", g);
  text += "    launch @up ro(%x, %w1) wo(%g) on %s\n";
  text += fmt::format("    %y = alloc on %s : shard<{}, @m, [{{}}, {{}}], unreduced={{tp}}>\n", x);
  text += "    %e = launch @down ro(%g, %w2) wo(%y) on %s\n    free %g on %s\n    wait %e on %n\n";
  text += "    %r = all_reduce sum %c rw(%y -> [{}, {}]) on %n\n    free %y on %n\n";
  return text + "    yield %r\n  }\n  return\n}\n";
}

}  // namespace hostir::bench
