#include "interp/cuda/placement.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/number_from.h"

namespace hostir::cuda {

namespace {

Expected<std::vector<int>> parse_place(const PlaceRequest& request) {
  std::vector<int> out;
  const std::string& text = request.place;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const int device = number_from<int>(text.substr(at, end - at)).value_or(-1);
    if (device < 0) {
      return fail(ErrorKind::kUsage, "place",
                  fmt::format("--place takes the device of every rank, as in 0,0,1,1, not \"{}\"",
                              text.substr(at, end - at)));
    }
    out.push_back(device);
    at = end + 1;
  }
  if (out.size() != static_cast<size_t>(request.ranks)) {
    return fail(ErrorKind::kUsage, "place",
                fmt::format("--place names the devices of {} ranks, the program has {}", out.size(),
                            request.ranks));
  }
  return out;
}

}  // namespace

RankRange part_of_ranks(Rank ranks, int parts, int part) {
  const Rank each = ranks / parts;
  const Rank more = ranks % parts;
  const Rank first = part * each + std::min<Rank>(part, more);
  return {first, first + each + (part < more ? 1 : 0)};
}

Expected<std::vector<int>> place_ranks(const PlaceRequest& request) {
  if (request.processes > request.ranks) {
    return fail(ErrorKind::kUsage, "place",
                fmt::format("{} processes cannot share the {} ranks of the program",
                            request.processes, request.ranks));
  }
  if (request.devices < 1) return fail(ErrorKind::kRuntime, "place", "there is no device");
  std::vector<int> named;
  if (!request.place.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(named, parse_place(request));
  }
  std::vector<int> out(static_cast<size_t>(request.ranks), -1);
  const RankRange own = part_of_ranks(request.ranks, request.processes, request.process);
  for (Rank r = own.first; r < own.end; ++r) {
    int& device = out[static_cast<size_t>(r)];
    if (!named.empty()) {
      device = named[static_cast<size_t>(r)];
      if (device >= request.devices) {
        return fail(ErrorKind::kUsage, "place",
                    fmt::format("--place puts rank {} on device {}, but this process sees {}", r,
                                device, request.devices));
      }
      continue;
    }
    if (request.local_processes > 1) {
      device = request.local_process % request.devices;
      continue;
    }
    const Rank count = own.end - own.first;
    const bool shared = count > request.devices && !request.devices_are_named;
    const int parts = shared ? 1 : std::min<int>(request.devices, count);
    for (int d = 0; d < parts; ++d) {
      const RankRange part = part_of_ranks(count, parts, d);
      if (r - own.first >= part.first && r - own.first < part.end) device = d;
    }
  }
  return out;
}

std::string describe_places(const std::vector<int>& devices) {
  std::string out;
  for (size_t r = 0; r < devices.size();) {
    size_t end = r + 1;
    while (end < devices.size() && devices[end] == devices[r]) ++end;
    if (devices[r] >= 0) {
      if (!out.empty()) out += ", ";
      out += end - r == 1 ? fmt::format("rank {}", r) : fmt::format("ranks {}..{}", r, end - 1);
      out += fmt::format(" on device {}", devices[r]);
    }
    r = end;
  }
  return out;
}

}  // namespace hostir::cuda
