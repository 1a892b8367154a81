#include "interp/sim/exchange.h"

namespace hostir::sim {

namespace {

// Elements that `from` sends to `to`; equal blocks where no counts were given.
int64_t count(const Exchange& exchange, size_t from, size_t to) {
  const std::vector<int64_t>& counts = exchange.member(from).send_counts;
  if (to < counts.size()) return counts[to];
  const auto ranks = static_cast<int64_t>(exchange.size());
  return exchange.in(from).size_bytes / exchange.element_bytes() / ranks;
}

}  // namespace

// Block j of member i becomes block i of member j.
void sim_all_to_all(Exchange& exchange);
void sim_all_to_all(Exchange& exchange) {
  std::vector<int64_t> received(exchange.size(), 0);
  for (size_t from = 0; from < exchange.size(); ++from) {
    int64_t sent = 0;
    for (size_t to = 0; to < exchange.size(); ++to) {
      const int64_t bytes = count(exchange, from, to) * exchange.element_bytes();
      exchange.give_at(to, received[to], exchange.in(from).part(sent, bytes));
      sent += bytes;
      received[to] += bytes;
    }
  }
}

}  // namespace hostir::sim
