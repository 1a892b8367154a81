#include "hostir/script/edits.h"

#include <algorithm>

namespace hostir::script {

std::string apply_edits(const std::string& text, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at || edit.end < edit.begin || edit.end > text.size()) continue;
    out.append(text, at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out.append(text, at, std::string::npos);
  return out;
}

}  // namespace hostir::script
