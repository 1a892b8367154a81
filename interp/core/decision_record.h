// One decision of a run, as recorded in traces and logs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "interp/core/ids.h"

namespace hostir::interp {

/// Logs leave out kRun: an event says which rank was stepped.
struct DecisionRecord {
  enum class Kind : uint8_t { kRun, kFreeze, kThaw, kEdit, kBranch } kind = Kind::kRun;
  uint64_t number = 0;
  uint32_t branch = 0;
  Rank rank = kNoRank;
  std::string detail;  // kEdit: `%name+offset:hex`, what was written; kBranch: the parent

  static constexpr std::array<std::string_view, 5> kKindNames = {"run", "freeze", "thaw", "edit",
                                                                 "branch"};
  static std::string_view name(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }
};

}  // namespace hostir::interp
