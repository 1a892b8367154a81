#include "kernels/cpu/isa.h"

#include <cpuid.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {
namespace {

/// The level that the environment allows, by oneDNN's names; unknown names allow everything.
Isa allowed_isa() {
  const char* text = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (text == nullptr) text = std::getenv("DNNL_MAX_CPU_ISA");
  std::string limit = text ? text : "";
  std::transform(limit.begin(), limit.end(), limit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (limit == "SSE41" || limit == "AVX") return Isa::kBaseline;
  return limit.starts_with("AVX2") ? Isa::kAvx2 : Isa::kAvx512;
}

// clang 14's __builtin_cpu_supports does not know f16c.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

Isa cpu_isa() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  if (!avx2) return Isa::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::kAvx512 : Isa::kAvx2;
}

}  // namespace

Isa detected_isa() {
  static const Isa isa = std::min(cpu_isa(), allowed_isa());  // asking a virtual CPU takes long
  return isa;
}

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "x86-64";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512_core";
  }
  return "unknown";
}

std::string isa_name() { return std::string(name(detected_isa())); }

}  // namespace hostir::cpu
