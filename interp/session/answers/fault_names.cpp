#include "interp/session/answers/fault_names.h"

#include <algorithm>
#include <array>

namespace hostir::interp {

std::string fault_name(std::string_view kind) {
  struct Words {
    std::string_view kind;
    std::string_view text;
  };
  constexpr std::array kWords = {
      Words{"collective_mismatch", "mismatch"},
      Words{"race_raw", "race (read after write)"},
      Words{"race_war", "race (write after read)"},
      Words{"race_waw", "race (write after write)"},
      Words{"write_to_readonly", "write to read-only memory"},
      Words{"uninitialised_read", "read of memory never written"},
      Words{"not_a_member", "not a member of the group"},
      Words{"assert", "assertion failed"},
      Words{"max_steps", "limit of steps"},
      Words{"max_memory", "limit of memory"},
  };
  for (const Words& w : kWords) {
    if (w.kind == kind) return std::string(w.text);
  }
  std::string out(kind);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

bool is_race(std::string_view kind) {
  return kind.starts_with("race_") || kind == "free_in_flight" || kind == "use_before_wait";
}

}  // namespace hostir::interp
