#include "hostir/ops/layout.h"

namespace hostir {

OpRecord op_unpack() {
  return {
      .mnemonic = "unpack",
      .shape = OpShape::kLayout,
      .summary = "A communication buffer in block order put back into row-major order.",
      .doc = {.shapes = "Any; the global shape stays.",
              .sharding =
                  "The operand's; only the order in memory changes. Block r holds, row-major, what "
                  "this rank's box and member r's box of `blocks` have in common.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x",
                    .doc = "blocks, one per member of the group",
                    .partial = ops::kMoved}},
      .attributes = {ops::blocks_attribute()},
      .results = {{.name = "y", .doc = "row-major over this rank's box"}},
      .constraints = {{"unpack_c1", ops::kBlocksRank, ops::check_blocks}},
      .infer = ops::infer_layout,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = pack dy with the same blocks",
      .example = R"(mesh @m = <x=2>
kernel @k(%x: tensor<4x6xf32>) -> (%y: tensor<4x6xf32>) {
  %y = unpack %x {blocks = <@m, [{}, {x}]>}
  return %y
})",
      .source = "NCCL, which wants contiguous blocks in group order",
  };
}

}  // namespace hostir
