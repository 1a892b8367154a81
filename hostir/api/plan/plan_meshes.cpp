#include "hostir/api/plan/plan_meshes.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

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

std::vector<MeshAxes> all_meshes(const MeshAxes& axes, std::span<const MeshAxis> written,
                                 int64_t ranks) {
  std::vector<MeshAxes> out = all_sizes(axes, ranks);
  std::erase_if(out, [&](const MeshAxes& mesh) {
    return written.size() == 1 && mesh.front().size == 1 && ranks > 1;
  });
  return out;
}

std::vector<MeshAxes> with_axes(std::vector<MeshAxes> meshes, std::span<const MeshAxis> written) {
  for (MeshAxes& axes : meshes) {
    for (const MeshAxis& axis : written) {
      if (!has_axis(axes, axis.name)) axes.push_back({axis.name, 1});
    }
  }
  return meshes;
}

bool has_axis(std::span<const MeshAxis> axes, const std::string& name) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const MeshAxis& axis) { return axis.name == name; });
}

bool names_axes_inside(const Function& fusion) {
  const auto is_cut = [](const Value& value) {
    return value.defined_by.valid() && sharding_of(value.type) != nullptr;
  };
  const auto has_axes = [](const Instruction& i) {
    return std::any_of(i.attributes.entries().begin(), i.attributes.entries().end(),
                       [](const auto& attribute) {
                         return std::holds_alternative<AxisList>(attribute.second) ||
                                std::holds_alternative<Sharding>(attribute.second);
                       });
  };
  return std::any_of(fusion.values.begin(), fusion.values.end(), is_cut) ||
         std::any_of(fusion.instructions.begin(), fusion.instructions.end(), has_axes);
}

void drop_renamed(std::vector<MeshAxes>& meshes) {
  const auto sizes = [](const MeshAxes& axes) {
    std::vector<int64_t> out;
    for (const MeshAxis& axis : axes) {
      if (axis.size > 1) out.push_back(axis.size);
    }
    return out;
  };
  std::vector<MeshAxes> kept;
  std::set<std::vector<int64_t>> known;
  for (size_t m = meshes.size(); m-- > 0;) {
    if (known.insert(sizes(meshes[m])).second) kept.push_back(std::move(meshes[m]));
  }
  meshes.assign(kept.rbegin(), kept.rend());
}

std::string axes_text(const MeshAxes& axes) {
  std::string out;
  for (const MeshAxis& axis : axes)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", axis.name, axis.size);
  return out;
}

}  // namespace hostir::api
