// The instruction set that this CPU supports and the user allows.
#pragma once

#include <cstdint>
#include <string_view>

namespace hostir::cpu {

/// The vector level of our own loops. oneDNN dispatches itself, by the same environment variable.
enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512 };

/// The highest level that the CPU supports and DNNL_MAX_CPU_ISA (or ONEDNN_MAX_CPU_ISA) allows.
Isa detected_isa();

std::string_view name(Isa isa);

}  // namespace hostir::cpu
