#define HOSTIR_TILE_TABLE tile_ops_baseline
#include "kernels/cpu/tile/tile_ops.inc"
