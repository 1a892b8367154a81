// 1. Ranks that reach each other form one block, a ring; every other rank is its own block.
// 2. A block's layer is the length of the longest path to a block that waits for no one; layers are
//    columns.
// 3. Place labels beside the cards or below them.
// 4. Draw arrows; place the remaining labels where there is room.
#include "gui/panels/waits/wait_layout.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/panels/waits/wait_blocks.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

class Placer {
 public:
  Placer(const WaitGraph& graph, const WaitSizes& sizes) : graph_(graph), sizes_(sizes) {}

  WaitLayout run() {
    find_blocks();
    find_layers();
    shape_blocks();
    place_columns();
    draw_arrows();
    label_the_rest();
    return std::move(out_);
  }

 private:
  size_t count() const { return graph_.nodes.size(); }

  void find_blocks() {
    const size_t n = count();
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    for (const WaitLink& l : graph_.links) reach[l.from][l.to] = true;
    for (size_t k = 0; k < n; ++k) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; reach[i][k] && j < n; ++j) {
          if (reach[k][j]) reach[i][j] = true;
        }
      }
    }
    block_of_.assign(n, n);
    for (size_t i = 0; i < n; ++i) {
      if (block_of_[i] != n) continue;
      WaitBlock block;
      for (size_t j = i; j < n; ++j) {
        if (j != i && !(reach[i][j] && reach[j][i])) continue;
        block_of_[j] = blocks_.size();
        block.nodes.push_back(j);
      }
      order_ring(block);
      blocks_.push_back(std::move(block));
    }
  }

  // Orders the ring along the links of the cycle from its first node, then appends the block's
  // other nodes.
  void order_ring(WaitBlock& block) const {
    std::vector<size_t> ring = {block.nodes.front()};
    for (const size_t node : block.nodes) {
      if (graph_.nodes[node].in_cycle && !graph_.nodes[ring.front()].in_cycle) ring = {node};
    }
    for (bool found = true; found;) {
      found = false;
      for (const bool strict : {true, false}) {
        for (const WaitLink& l : graph_.links) {
          if (found || l.from != ring.back() || (strict && !l.in_cycle)) continue;
          const bool own = contains(block.nodes, l.to);
          if (!own || contains(ring, l.to)) continue;
          ring.push_back(l.to);
          found = true;
        }
      }
    }
    for (const size_t node : block.nodes) {
      add_once(ring, node);
    }
    block.nodes = std::move(ring);
  }

  void find_layers() {
    for (size_t round = 0; round < blocks_.size(); ++round) {
      for (const WaitLink& l : graph_.links) {
        WaitBlock& from = blocks_[block_of_[l.from]];
        const WaitBlock& to = blocks_[block_of_[l.to]];
        if (&from != &to) from.layer = std::max(from.layer, to.layer + 1);
      }
    }
  }

  void shape_blocks() {
    for (WaitBlock& b : blocks_) shape_block(graph_, sizes_, b);
  }

  void place_columns() {
    out_ = {};
    out_.cards.resize(count());
    out_.arrows.resize(graph_.links.size());
    size_t layers = 0;
    for (const WaitBlock& b : blocks_) layers = std::max(layers, b.layer + 1);
    std::vector<ImVec2> columns(layers, ImVec2(0, 0));
    for (const WaitBlock& b : blocks_) {
      ImVec2& column = columns[b.layer];
      column.x = std::max(column.x, b.size.x);
      column.y += b.size.y + (column.y > 0 ? sizes_.gap : 0);
    }
    for (const ImVec2& column : columns) out_.size.y = std::max(out_.size.y, column.y);
    float x = 0;
    for (size_t layer = layers; layer-- > 0;) {
      float y = (out_.size.y - columns[layer].y) / 2;
      for (const size_t i : ordered(layer)) {
        const WaitBlock& b = blocks_[i];
        put(b, ImVec2(x, y));
        y += b.size.y + sizes_.gap;
      }
      x += columns[layer].x + sizes_.arrow;
    }
    out_.size.x = std::max(0.0f, x - sizes_.arrow);
  }

  // Blocks with the same target are adjacent.
  std::vector<size_t> ordered(size_t layer) const {
    std::vector<std::pair<size_t, size_t>> keyed;  // smallest target, block
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].layer != layer) continue;
      size_t target = count();
      for (const WaitLink& l : graph_.links) {
        if (block_of_[l.from] == i && block_of_[l.to] != i) target = std::min(target, l.to);
      }
      keyed.emplace_back(target, i);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<size_t> out;
    for (const auto& [target, i] : keyed) out.push_back(i);
    return out;
  }

  void put(const WaitBlock& b, ImVec2 at) {
    for (size_t i = 0; i < b.nodes.size(); ++i) {
      out_.cards[b.nodes[i]] = b.cards[i];
      out_.cards[b.nodes[i]].move(at);
    }
    for (WaitLabel label : b.labels) {
      label.box.move(at);
      out_.labels.push_back(std::move(label));
    }
    for (const auto& [l, points] : b.arrows) {
      for (const ImVec2& p : points) out_.arrows[l].emplace_back(p.x + at.x, p.y + at.y);
    }
  }

  const WaitLabel* label_of(size_t link) const {
    for (const WaitLabel& l : out_.labels) {
      if (contains(l.links, link)) return &l;
    }
    return nullptr;
  }

  // From the label to the left edge of the target, spread over its height.
  void draw_arrows() {
    std::map<size_t, std::vector<size_t>> into;  // by target
    for (size_t i = 0; i < graph_.links.size(); ++i) {
      if (out_.arrows[i].empty()) into[graph_.links[i].to].push_back(i);
    }
    for (auto& [to, links] : into) {
      std::sort(links.begin(), links.end(), [&](size_t a, size_t b) {
        return out_.cards[graph_.links[a].from].min.y < out_.cards[graph_.links[b].from].min.y;
      });
      const WaitBox& card = out_.cards[to];
      for (size_t k = 0; k < links.size(); ++k) {
        const float share = static_cast<float>(k + 1) / static_cast<float>(links.size() + 1);
        out_.arrows[links[k]] =
            arrow(links[k], ImVec2(card.min.x, card.min.y + (card.max.y - card.min.y) * share));
      }
    }
  }

  std::vector<ImVec2> arrow(size_t link, ImVec2 end) const {
    const WaitBox& from = out_.cards[graph_.links[link].from];
    const WaitLabel* label = label_of(link);
    std::vector<ImVec2> points;
    ImVec2 start(from.max.x, from.centre().y);
    if (label) {
      const ImVec2 middle = label->box.centre();
      if (label->box.min.x > from.max.x) points.emplace_back(from.max.x, from.centre().y);
      points.emplace_back(label->box.min.x, middle.y);
      start = ImVec2(label->box.max.x, middle.y);
    }
    if (end.x < start.x + 4) {  // a chord of a ring, or a link back: straight from the middle
      const WaitBox& to = out_.cards[graph_.links[link].to];
      const ImVec2 a = from.centre();
      const ImVec2 z = to.centre();
      if (std::abs(z.y - a.y) > (to.max.y - to.min.y))
        return {ImVec2(a.x, z.y > a.y ? from.max.y : from.min.y),
                ImVec2(z.x, z.y > a.y ? to.min.y : to.max.y)};
      return {ImVec2(z.x > a.x ? from.max.x : from.min.x, a.y),
              ImVec2(z.x > a.x ? to.min.x : to.max.x, z.y)};
    }
    constexpr int kSteps = 20;
    const float pull = (end.x - start.x) * 0.5f;
    for (int i = 0; i <= kSteps; ++i) {
      const float t = static_cast<float>(i) / kSteps;
      const float u = 1 - t;
      const float a = u * u * u;
      const float b = 3 * u * u * t;
      const float c = 3 * u * t * t;
      const float d = t * t * t;
      points.emplace_back(a * start.x + b * (start.x + pull) + c * (end.x - pull) + d * end.x,
                          (a + b) * start.y + (c + d) * end.y);
    }
    return points;
  }

  // Labels the remaining links near their start, where there is room.
  void label_the_rest() {
    for (size_t i = 0; i < graph_.links.size(); ++i) {
      const auto& points = out_.arrows[i];
      if (label_of(i) || points.size() < 2) continue;
      for (const float t : {0.25f, 0.35f, 0.5f, 0.65f}) {
        const ImVec2 a = points.front();
        const ImVec2 z = points.back();
        const ImVec2 at(a.x + (z.x - a.x) * t, a.y + (z.y - a.y) * t);
        const ImVec2 size = sizes_.labels[i];
        const WaitBox box{ImVec2(at.x - size.x / 2, at.y - size.y / 2),
                          ImVec2(at.x + size.x / 2, at.y + size.y / 2)};
        const bool inside = box.min.x >= 0 && box.min.y >= 0 && box.max.x <= out_.size.x &&
                            box.max.y <= out_.size.y;
        const bool taken = std::any_of(out_.cards.begin(), out_.cards.end(),
                                       [&](const WaitBox& b) { return b.overlaps(box); }) ||
                           std::any_of(out_.labels.begin(), out_.labels.end(),
                                       [&](const WaitLabel& l) { return l.box.overlaps(box); });
        if (!inside || taken) continue;
        out_.labels.push_back({box, {i}});
        break;
      }
    }
  }

  const WaitGraph& graph_;
  const WaitSizes& sizes_;
  std::vector<WaitBlock> blocks_;
  std::vector<size_t> block_of_;
  WaitLayout out_;
};

}  // namespace

WaitLayout place_waits(const WaitGraph& graph, const WaitSizes& sizes) {
  return Placer(graph, sizes).run();
}

}  // namespace hostir::gui
