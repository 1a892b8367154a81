// Writes out calls of vendor libraries in HLO text that was compiled for a device.
//
// XLA replaces matrix products and convolutions by custom calls of cuBLAS, cuDNN and oneDNN, with
// the dimensions and the operations that follow (bias, activation) in the backend configuration.
// Here they become `dot`, `convolution` and pointwise instructions again. Calls with fields that
// are not known stay custom calls.
#pragma once

#include "hostir/import/hlo/hlo_text.h"

namespace hostir::importer {

void write_out_library_calls(HloText& text);

}  // namespace hostir::importer
