#include "hostir/api/plan/plan_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "hostir/ir/attribute.h"

namespace hostir::api {

namespace {

// Lists of axes: one per dimension of each value, then one of its partial sums.
using AxisLists = std::vector<std::vector<std::string>>;

// True if `second` follows `first` in every list that has either of them, so that together they act
// as one axis.
bool always_joined(const AxisLists& lists, const std::string& first, const std::string& second) {
  return std::all_of(lists.begin(), lists.end(), [&](const std::vector<std::string>& list) {
    const auto a = std::find(list.begin(), list.end(), first);
    const auto b = std::find(list.begin(), list.end(), second);
    return a == list.end() ? b == list.end() : a + 1 == b;
  });
}

}  // namespace

std::string placement_text(const std::vector<MeshAxis>& axes,
                           const std::vector<std::pair<std::string, Sharding>>& shardings) {
  AxisLists lists;
  std::map<std::string, int64_t> sizes;
  const auto add = [&](const AxisList& list) {
    std::vector<std::string>& names = lists.emplace_back();
    for (const AxisRef& a : list) {
      const auto axis = std::find_if(axes.begin(), axes.end(),
                                     [&](const MeshAxis& m) { return m.name == a.name; });
      const int64_t size = a.whole() && axis != axes.end() ? axis->size : a.size;
      if (size == 1) continue;
      names.push_back(a.to_string());
      sizes[names.back()] = size;
    }
  };
  std::string out;
  for (const auto& [name, sharding] : shardings) {
    out += fmt::format("%{}:{} ", name, sharding.dims.size());
    for (const DimSharding& dim : sharding.dims) add(dim.axes);
    add(sharding.unreduced);
  }
  for (auto first = sizes.begin(); first != sizes.end();) {
    const auto second = std::find_if(sizes.begin(), sizes.end(), [&](const auto& other) {
      return other.first != first->first && always_joined(lists, first->first, other.first);
    });
    if (second == sizes.end()) {
      ++first;
      continue;
    }
    first->second *= second->second;
    for (std::vector<std::string>& list : lists) std::erase(list, second->first);
    sizes.erase(second);
    first = sizes.begin();
  }
  std::map<std::string, size_t> numbers;
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& name : list)
      out += fmt::format("{}={},", numbers.try_emplace(name, numbers.size()).first->second,
                         sizes.at(name));
    out += ";";
  }
  return out;
}

}  // namespace hostir::api
