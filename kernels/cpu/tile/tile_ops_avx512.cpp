#define HOSTIR_TILE_TABLE tile_ops_avx512
#include "kernels/cpu/tile/tile_ops.inc"
