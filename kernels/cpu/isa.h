// Which instructions this CPU has and the user allows.
#pragma once

#include <cstdint>
#include <string_view>

namespace hostir::cpu {

/// The vector level of our own loops. oneDNN dispatches by itself, by the same variable.
enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512 };

/// The best level that the CPU has and DNNL_MAX_CPU_ISA (or ONEDNN_MAX_CPU_ISA) does not rule out.
Isa detected_isa();

std::string_view name(Isa isa);

}  // namespace hostir::cpu
