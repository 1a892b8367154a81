// The protocol: frames of a u32 length and a body; integers in native byte order, since all
// processes run the same program.
// Client: hello(process); give(topic, timeout_ms, text); bye.
// Server: answers to gives, in the order of the gives; a notice when a process is lost.
#include "interp/cuda/rendezvous.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "interp/cuda/placement.h"

namespace hostir::cuda {

namespace {

using Clock = std::chrono::steady_clock;
using interp::Peers;

enum class Verb : uint8_t { kHello, kGive, kBye, kAnswers, kLost };
constexpr size_t kMostFrameBytes = size_t{1} << 31;

tl::unexpected<Error> system_error(const std::string& what) {
  return fail(ErrorKind::kRuntime, "rendezvous", fmt::format("{}: {}", what, std::strerror(errno)));
}

class Writer {
 public:
  explicit Writer(Verb verb) { put(verb); }
  template <class T>
  void put(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    body_.append(bytes, sizeof(T));
  }
  void text(const std::string& value) {
    put(static_cast<uint32_t>(value.size()));
    body_ += value;
  }
  std::string frame() const {
    const auto size = static_cast<uint32_t>(body_.size());
    std::string out(sizeof(size), '\0');
    std::memcpy(out.data(), &size, sizeof(size));
    return out + body_;
  }

 private:
  std::string body_;
};

class Reader {
 public:
  explicit Reader(std::string body) : body_(std::move(body)) {}
  template <class T>
  T get() {
    T value{};
    if (at_ + sizeof(T) <= body_.size()) std::memcpy(&value, body_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string text() {
    const auto size = get<uint32_t>();
    if (at_ > body_.size()) return {};
    std::string out = body_.substr(at_, size);
    at_ += size;
    return out;
  }

 private:
  std::string body_;
  size_t at_ = 0;
};

bool send_all(int socket, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(socket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<size_t>(sent);
  }
  return true;
}

// Receives a complete frame; nullopt if the connection ends or on timeout.
std::optional<std::string> receive_frame(int socket, Clock::time_point end) {
  const auto receive = [&](char* to, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd wait{socket, POLLIN, 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) return false;
      const ssize_t got = ::recv(socket, to + at, bytes - at, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += static_cast<size_t>(got);
    }
    return true;
  };
  uint32_t size = 0;
  char head[sizeof(size)];
  if (!receive(head, sizeof(head))) return std::nullopt;
  std::memcpy(&size, head, sizeof(size));
  if (size > kMostFrameBytes) return std::nullopt;
  std::string body(size, '\0');
  if (!receive(body.data(), size)) return std::nullopt;
  return body;
}

}  // namespace

class RendezvousStore::Server {
 public:
  Server(int listener, int processes)
      : listener_(listener),
        wake_(::eventfd(0, EFD_CLOEXEC)),
        processes_(static_cast<size_t>(processes)) {}
  ~Server() {
    for (const Client& c : clients_) ::close(c.socket);
    ::close(listener_);
    ::close(wake_);
  }

  void stop() {
    const uint64_t one = 1;
    // The write fails only if the counter is at its limit, and then the loop wakes anyway.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof(one));
  }

  // Runs until it is stopped and all clients have disconnected, or for a grace period after it is
  // stopped.
  void run() {
    constexpr auto kGrace = std::chrono::seconds(5);
    std::optional<Clock::time_point> stop_at;
    while (true) {
      std::vector<pollfd> waits = {{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
      if (stop_at) waits[1].fd = -1;
      for (const Client& c : clients_) waits.push_back({c.socket, POLLIN, 0});
      if (::poll(waits.data(), waits.size(), next_timeout_ms()) < 0 && errno != EINTR) return;
      if ((waits[1].revents & POLLIN) != 0) stop_at = Clock::now() + kGrace;
      for (size_t i = 2; i < waits.size(); ++i) {
        if (waits[i].revents != 0) read(clients_[i - 2]);
      }
      std::erase_if(clients_, [](const Client& c) { return c.socket < 0; });
      if ((waits[0].revents & POLLIN) != 0) accept();
      answer();
      if (stop_at && (clients_.empty() || Clock::now() >= *stop_at)) return;
    }
  }

 private:
  struct Client {
    int socket = -1;
    int process = -1;
  };
  struct Topic {
    std::map<int, std::string> given;
    std::map<int, Clock::time_point> waiting;  // with deadline
  };
  enum class Life : uint8_t { kExpected, kHere, kLost, kEnded };
  struct Process {
    Life life = Life::kExpected;
    uint32_t run = 0;  // number of runs it has begun, one after the other
  };

  int next_timeout_ms() const {
    auto next = Clock::now() + std::chrono::milliseconds(500);
    for (const auto& [name, topic] : topics_) {
      for (const auto& [process, until] : topic.waiting) next = std::min(next, until);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, 500));
  }

  void accept() {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    clients_.push_back({socket, -1});
  }

  void read(Client& client) {
    auto body = receive_frame(client.socket, Clock::now() + std::chrono::seconds(5));
    if (!body) return drop(client, Life::kLost);
    Reader in(std::move(*body));
    const auto verb = in.get<Verb>();
    if (verb == Verb::kHello) {
      const auto process = in.get<int32_t>();
      if (process < 0 || static_cast<size_t>(process) >= processes_.size()) {
        return drop(client, Life::kEnded);
      }
      client.process = process;
      Process& self = processes_[static_cast<size_t>(process)];
      self.life = Life::kHere;
      ++self.run;
      std::erase_if(topics_, [&](const auto& topic) { return topic.first.first + 1 < self.run; });
    } else if (verb == Verb::kGive && client.process >= 0) {
      const std::string name = in.text();
      const auto timeout_ms = in.get<int64_t>();
      Topic& topic = topics_[{processes_[static_cast<size_t>(client.process)].run, name}];
      topic.given[client.process] = in.text();
      topic.waiting[client.process] = Clock::now() + std::chrono::milliseconds(timeout_ms);
    } else if (verb == Verb::kBye) {
      drop(client, Life::kEnded);
    } else {
      drop(client, Life::kLost);
    }
  }

  void drop(Client& client, Life life) {
    ::close(client.socket);
    client.socket = -1;
    if (client.process < 0) return;
    processes_[static_cast<size_t>(client.process)].life = life;
    for (auto& [name, topic] : topics_) topic.waiting.erase(client.process);
    if (life != Life::kLost) return;
    Writer notice(Verb::kLost);
    notice.put(static_cast<int32_t>(client.process));
    for (const Client& other : clients_) {
      if (other.socket >= 0 && other.process >= 0) send_all(other.socket, notice.frame());
    }
  }

  // Answers every client whose wait has ended with the texts that have arrived.
  void answer() {
    for (auto& [name, topic] : topics_) {
      for (auto at = topic.waiting.begin(); at != topic.waiting.end();) {
        const bool late = Clock::now() >= at->second;
        if (!late && !is_complete(topic, name.first)) {
          ++at;
          continue;
        }
        const std::string frame = answers(topic, name.first);
        for (const Client& c : clients_) {
          if (c.process == at->first) send_all(c.socket, frame);
        }
        at = topic.waiting.erase(at);
      }
    }
  }

  // The state of a process in a run. A process that has not begun the run may still join it.
  Life life_in(size_t process, uint32_t run) const {
    const Process& p = processes_[process];
    if (p.life == Life::kLost) return Life::kLost;
    if (p.run < run) return Life::kExpected;
    return p.run > run ? Life::kEnded : p.life;
  }

  bool is_complete(const Topic& topic, uint32_t run) const {
    for (size_t p = 0; p < processes_.size(); ++p) {
      const Life life = life_in(p, run);
      const bool may_come = life == Life::kExpected || life == Life::kHere;
      if (may_come && !topic.given.contains(static_cast<int>(p))) return false;
    }
    return true;
  }

  std::string answers(const Topic& topic, uint32_t run) const {
    Writer out(Verb::kAnswers);
    out.put(static_cast<uint32_t>(processes_.size()));
    for (size_t p = 0; p < processes_.size(); ++p) {
      const auto found = topic.given.find(static_cast<int>(p));
      out.put(static_cast<uint8_t>(found != topic.given.end()));
      if (found != topic.given.end()) {
        out.text(found->second);
        continue;
      }
      const Life life = life_in(p, run);
      out.text(life == Life::kExpected ? "never came"
               : life == Life::kHere   ? "did not answer in time"
               : life == Life::kLost   ? "is gone"
                                       : "has ended");
    }
    return out.frame();
  }

  int listener_ = -1;
  int wake_ = -1;
  std::vector<Process> processes_;
  std::vector<Client> clients_;
  std::map<std::pair<uint32_t, std::string>, Topic> topics_;  // by run and name
};

Expected<std::unique_ptr<RendezvousStore>> RendezvousStore::open(int port, int processes) {
  const int listener = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return system_error("cannot make a socket");
  const int on = 1;
  const int off = 0;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof(address);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 128) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    auto error = system_error(fmt::format("cannot listen on port {}", port));
    ::close(listener);
    return error;
  }
  std::unique_ptr<RendezvousStore> out(new RendezvousStore);
  out->port_ = ntohs(address.sin6_port);
  out->server_ = std::make_unique<Server>(listener, processes);
  out->thread_ = std::jthread([server = out->server_.get()] { server->run(); });
  return out;
}

RendezvousStore::~RendezvousStore() {
  if (server_ == nullptr) return;
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

Expected<std::unique_ptr<Rendezvous>> Rendezvous::create(const ProcessPlace& place,
                                                         int64_t timeout_ns) {
  std::unique_ptr<Rendezvous> out(new Rendezvous(place));
  if (place.index == 0 && !place.launcher_has_store) {
    HOSTIR_ASSIGN_OR_RETURN(out->store_, RendezvousStore::open(place.port, place.count));
    out->place_.port = out->store_->port();
    out->place_.host = "localhost";
  }
  HOSTIR_TRY(out->connect(timeout_ns));
  std::string missing;
  const auto answers = out->exchange("hello", "", timeout_ns);
  for (size_t p = 0; p < answers.size(); ++p) {
    if (answers[p].text) continue;
    missing += fmt::format("{}process {} {}", missing.empty() ? "" : ", ", p, answers[p].why_not);
  }
  if (missing.empty()) return out;
  return fail(ErrorKind::kRuntime, "rendezvous",
              fmt::format("process {} of {} waited {:g} s for the others at {}:{}: {}", place.index,
                          place.count, static_cast<double>(timeout_ns) * 1e-9, place.host,
                          out->place_.port, missing));
}

Expected<void> Rendezvous::connect(int64_t timeout_ns) {
  const auto end = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(place_.port);
  if (const int error = ::getaddrinfo(place_.host.c_str(), port.c_str(), &hints, &found)) {
    return fail(ErrorKind::kRuntime, "rendezvous",
                fmt::format("{}: {}", place_.host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, ::freeaddrinfo);
  do {
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
      const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
      if (socket < 0) continue;
      if (::connect(socket, at->ai_addr, at->ai_addrlen) == 0) {
        socket_ = socket;
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        Writer hello(Verb::kHello);
        hello.put(static_cast<int32_t>(place_.index));
        if (!send_all(socket, hello.frame())) return system_error("cannot reach the store");
        return {};
      }
      ::close(socket);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (Clock::now() < end);
  return fail(
      ErrorKind::kRuntime, "rendezvous",
      fmt::format("process {} of {} reached no process at {}:{} within {:g} s", place_.index,
                  place_.count, place_.host, place_.port, static_cast<double>(timeout_ns) * 1e-9));
}

Rendezvous::~Rendezvous() {
  if (socket_ >= 0) {
    send_all(socket_, Writer(Verb::kBye).frame());
    ::close(socket_);
  }
}

std::vector<interp::Rank> Rendezvous::ranks_of(int process) const {
  std::vector<interp::Rank> out;
  const RankRange part = part_of_ranks(ranks_, place_.count, process);
  for (interp::Rank r = part.first; r < part.end; ++r) out.push_back(r);
  return out;
}

std::vector<Peers::Answer> Rendezvous::exchange(const std::string& topic, std::string mine,
                                                int64_t timeout_ns) {
  std::vector<Answer> out(static_cast<size_t>(place_.count));
  for (Answer& a : out) a.why_not = "cannot be reached: the process with the store is gone";
  out[static_cast<size_t>(place_.index)] = {mine, ""};
  Writer give(Verb::kGive);
  give.text(topic);
  give.put(timeout_ns / 1'000'000);
  give.text(mine);
  if (socket_ < 0 || !send_all(socket_, give.frame())) return out;
  // The store answers in time; one more second for the transfer.
  const auto end = Clock::now() + std::chrono::nanoseconds(timeout_ns) + std::chrono::seconds(1);
  while (true) {
    auto body = receive_frame(socket_, end);
    if (!body) return out;
    Reader in(std::move(*body));
    const auto verb = in.get<Verb>();
    if (verb == Verb::kLost) {
      lost_.push_back(in.get<int32_t>());
      continue;
    }
    const auto count = std::min<size_t>(in.get<uint32_t>(), out.size());
    for (size_t p = 0; p < count; ++p) {
      const bool given = in.get<uint8_t>() != 0;
      std::string text = in.text();
      if (given) {
        out[p] = {std::move(text), ""};
      } else {
        out[p] = {std::nullopt, std::move(text)};
      }
    }
    return out;
  }
}

std::optional<int> Rendezvous::lost_process() {
  while (socket_ >= 0) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, 0) <= 0) break;
    auto body = receive_frame(socket_, Clock::now() + std::chrono::seconds(1));
    if (!body) {  // message from the store itself
      ::close(socket_);
      socket_ = -1;
      if (!place_.launcher_has_store) lost_.push_back(0);
      break;
    }
    Reader in(std::move(*body));
    if (in.get<Verb>() == Verb::kLost) lost_.push_back(in.get<int32_t>());
  }
  return lost_.empty() ? std::nullopt : std::optional(lost_.front());
}

}  // namespace hostir::cuda
