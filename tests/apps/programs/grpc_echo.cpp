// A server and a client of gRPC that know only sockets: the client's messages come back with every byte
// inverted.
//
// Usage: grpc_echo serve ADDRESS:PORT        until it is ended
//        grpc_echo call ADDRESS:PORT SIZE    ten calls with SIZE bytes each, every byte compared
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string inverted(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~byte);
  return bytes;
}

std::string message(std::size_t size, unsigned number) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 13 + i / 253 + number);
  return bytes;
}

class Echo final : public grpc::ServerGenericBidiReactor {
 public:
  Echo() { StartRead(&received_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    answer_ = buffer_of(inverted(bytes_of(received_)));
    StartWrite(&answer_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::ABORTED, "the client is gone"));
    StartRead(&received_);
  }
  void OnDone() override { delete this; }

  grpc::ByteBuffer received_;
  grpc::ByteBuffer answer_;
};

class EchoService final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Echo;
  }
};

int serve(const std::string& address) {
  EchoService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  builder.SetMaxReceiveMessageSize(-1);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) return 1;
  std::puts("listening");
  std::fflush(stdout);
  server->Wait();
  return 0;
}

int call(const std::string& address, std::size_t size) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  grpc::GenericStub stub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  for (unsigned number = 0; number < 10; ++number) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const std::string sent = message(size, number);
    const grpc::ByteBuffer request = buffer_of(sent);
    grpc::ByteBuffer answer;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, "/echo.Echo/Invert", {}, &request, &answer,
                   [&done](grpc::Status status) { done.set_value(std::move(status)); });
    const grpc::Status status = done.get_future().get();
    if (!status.ok()) {
      std::printf("call %u: %s\n", number, status.error_message().c_str());
      return 1;
    }
    if (bytes_of(answer) != inverted(sent)) {
      std::printf("call %u: the answer is wrong\n", number);
      return 1;
    }
  }
  std::puts("all answers were right");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "serve") return serve(argv[2]);
  if (argc == 4 && std::string_view(argv[1]) == "call")
    return call(argv[2], std::strtoul(argv[3], nullptr, 10));
  std::fputs("usage: grpc_echo serve ADDRESS:PORT | call ADDRESS:PORT SIZE\n", stderr);
  return 2;
}
