#include "hostir/ops/layout.h"

namespace hostir {

OpRecord op_pack() {
  return {
      .mnemonic = "pack",
      .shape = OpShape::kLayout,
      .summary = "A rank's part of a tensor put into the block order of a communication buffer.",
      .doc = {.shapes = "Any; the global shape stays.",
              .sharding =
                  "The operand's; only the order in memory changes. Block r holds, row-major, what "
                  "this rank's box and member r's box of `blocks` have in common.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "row-major over this rank's box", .partial = ops::kMoved}},
      .attributes = {ops::blocks_attribute()},
      .results = {{.name = "y", .doc = "the same elements, one block per member of the group"}},
      .constraints = {{"pack_c1", ops::kBlocksRank, ops::check_blocks}},
      .infer = ops::infer_layout,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = unpack dy with the same blocks",
      .example = R"(mesh @m = <x=2>
kernel @k(%x: tensor<4x6xf32>) -> (%y: tensor<4x6xf32>) {
  %y = pack %x {blocks = <@m, [{}, {x}]>}
  return %y
})",
      .source = "NCCL, which needs contiguous blocks in group order",
  };
}

}  // namespace hostir
