//! The server by itself, to try pipelines against: `cargo run -p millstream-testkit-s3 -- FOLDER [HOST:PORT]`. It prints the
//! environment that a pipeline needs, and has a bucket `data`.

use std::path::Path;

use millstream_testkit_s3::Server;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (folder, address) = match args.as_slice() {
        [folder] => (folder, "127.0.0.1:9000"),
        [folder, address] => (folder, address.as_str()),
        _ => return Err(std::io::Error::other("say a folder, and maybe an address such as 127.0.0.1:9000")),
    };
    let server = Server::start_at(Path::new(folder), address)?;
    for (name, value) in server.environment() {
        println!("export {name}={value}");
    }
    loop {
        std::thread::park();
    }
}
