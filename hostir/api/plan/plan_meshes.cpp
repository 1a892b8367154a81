#include "hostir/api/plan/plan_meshes.h"

#include <fmt/core.h>

#include "hostir/text/parse/parser.h"

namespace hostir::api {

namespace {

Expected<MeshAxes> parse_axes(std::string text) {
  const std::string given = text;
  if (text.starts_with('<') && text.ends_with('>')) text = text.substr(1, text.size() - 2);
  auto parsed = text::parse_program("mesh @mesh = <" + text + ">\n");
  const bool is_mesh = parsed && parsed->order.size() == 1 && parsed->meshes.size() == 1 &&
                       parsed->meshes.front().device_ids.empty();
  if (is_mesh && !parsed->meshes.front().axes.empty())
    return std::move(parsed->meshes.front().axes);
  auto error = fail(
      ErrorKind::kUsage, "usage",
      fmt::format("--mesh takes the axes of a mesh, as in --mesh dp=4,tp=2, not \"{}\"", given));
  if (!parsed) {
    error.value().diagnostics.front().notes.push_back(
        {parsed.error().diagnostics.front().message, {}});
  }
  return error;
}

}  // namespace

Expected<std::vector<MeshAxes>> parse_mesh_axes(const std::vector<std::string>& texts) {
  std::vector<MeshAxes> out;
  for (const std::string& text : texts) {
    HOSTIR_ASSIGN_OR_RETURN(MeshAxes axes, parse_axes(text));
    if (!out.empty() && rank_count(axes) != rank_count(out.front())) {
      return fail(
          ErrorKind::kUsage, "usage",
          fmt::format("--mesh {} has {} ranks, and --mesh {} has {}: meshes are compared "
                      "on the same ranks",
                      texts[out.size()], rank_count(axes), texts.front(), rank_count(out.front())));
    }
    out.push_back(std::move(axes));
  }
  return out;
}

int64_t rank_count(const MeshAxes& axes) {
  int64_t out = 1;
  for (const MeshAxis& axis : axes) out *= axis.size;
  return out;
}

std::vector<MeshAxes> all_sizes(const MeshAxes& axes, int64_t ranks) {
  if (axes.empty()) return {};
  if (axes.size() == 1) return {{{axes.front().name, ranks}}};
  std::vector<MeshAxes> out;
  for (int64_t first = 1; first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    for (MeshAxes& rest : all_sizes({axes.begin() + 1, axes.end()}, ranks / first)) {
      rest.insert(rest.begin(), {axes.front().name, first});
      out.push_back(std::move(rest));
    }
  }
  return out;
}

std::string axes_text(const MeshAxes& axes) {
  std::string out;
  for (const MeshAxis& axis : axes)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", axis.name, axis.size);
  return out;
}

}  // namespace hostir::api
