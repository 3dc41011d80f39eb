// Streams, and what is made of them. Like the names of the web, they are made when a script first names one.
(function ($, kept) {
  "use strict";
  const { apply, text, run } = kept, { binary, decoded, isObject, orTypeError, Response } = kept.ofWeb;
  const { TypeError, Promise, Symbol } = globalThis, { Uint8Array } = kept.binary();
  const { set, subarray } = Uint8Array.prototype, { then } = Promise.prototype, { toLowerCase } = String.prototype;
  const { defineProperty } = kept.natives.Reflect;

  const copyOf = (value) => run("web.bytes", "bytes", [binary(value)]);
  const joined = (list) => {
    if (list.length === 1) return list[0];
    let length = 0, at = 0;
    for (let i = 0; i < list.length; i++) length += list[i].length;
    const whole = new Uint8Array(length);
    for (let i = 0; i < list.length; at += list[i].length, i++) apply(set, whole, [list[i], at]);
    return whole;
  };

  class ReadableStream {
    #chunks = [];
    #reads = [];
    #state = "open";
    #why;
    #given = 0;
    #locked = false;
    #pulls = false;
    #source;
    #started;
    #controller;
    constructor(source = {}) {
      const stream = this;
      this.#source = source;
      this.#controller = {
        enqueue: (chunk) => this.#give(chunk), close: () => this.#end("closed"), error: (why) => this.#end("failed", why),
        get desiredSize() { return stream.#state === "open" ? 1 - stream.#chunks.length : 0; },
      };
      this.#started = source.start?.(this.#controller);
    }
    #give(chunk) {
      if (this.#state !== "open") throw new TypeError("the stream has ended");
      this.#given++;
      this.#chunks[this.#chunks.length] = chunk;
      this.#answer();
    }
    #end(state, why) {
      if (this.#state !== "open") return;
      this.#state = state;
      this.#why = why;
      this.#answer();
    }
    // Answers as many of the reads that wait as it can, and puts the others back.
    #answer() {
      const reads = this.#reads, chunks = this.#chunks;
      let read = 0, chunk = 0;
      for (; read < reads.length; read++) {
        const { resolve, reject } = reads[read];
        if (this.#state === "failed") reject(this.#why);
        else if (chunk < chunks.length) resolve({ value: chunks[chunk++], done: false });
        else if (this.#state === "closed") resolve({ value: undefined, done: true });
        else break;
      }
      const rest = (list, from) => {
        const left = [];
        for (let i = from; i < list.length; i++) left[i - from] = list[i];
        return left;
      };
      if (read > 0) this.#reads = rest(reads, read);
      if (chunk > 0) this.#chunks = rest(chunks, chunk);
    }
    async #pull() {
      if (this.#pulls || this.#source.pull === undefined) return;
      this.#pulls = true;
      try {
        await this.#started;
        for (let before = -1; this.#state === "open" && this.#reads.length > 0 && before !== this.#given;) {
          before = this.#given;
          await this.#source.pull(this.#controller);
        }
      } catch (why) {
        this.#end("failed", why);
      }
      this.#pulls = false;
    }
    #read() {
      return new Promise((resolve, reject) => {
        this.#reads[this.#reads.length] = { resolve, reject };
        this.#answer();
        if (this.#reads.length > 0) this.#pull();
      });
    }
    get locked() { return this.#locked; }
    async cancel(why) {
      this.#chunks = [];
      this.#end("closed");
      await this.#source.cancel?.(why);
    }
    getReader() {
      if (this.#locked) throw new TypeError("the stream has a reader already");
      this.#locked = true;
      let released = false;
      const own = (call) => {
        if (released) throw new TypeError("the reader was released");
        return call();
      };
      return {
        read: async () => own(() => this.#read()), cancel: async (why) => own(() => this.cancel(why)),
        releaseLock: () => {
          if (!released) this.#locked = false;
          released = true;
        },
      };
    }
    async pipeTo(to) {
      const reader = this.getReader(), writer = to.getWriter();
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) await writer.write(next.value);
      } catch (why) {
        await writer.abort(why);
        throw why;
      }
      await writer.close();
    }
    pipeThrough({ readable, writable }) {
      // Who reads what comes out is told about a failure.
      apply(then, this.pipeTo(writable), [undefined, () => {}]);
      return readable;
    }
    async *[Symbol.asyncIterator]() {
      const reader = this.getReader();
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      } finally {
        reader.releaseLock();
      }
    }
  }
  const streamOf = (make) => new ReadableStream({
    async pull(controller) {
      const chunk = await make();
      if (chunk.length > 0) controller.enqueue(chunk);
      controller.close();
    },
  });
  const allOf = async (stream) => {
    const reader = stream.getReader(), list = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) list[list.length] = copyOf(next.value);
    return joined(list);
  };

  // What is written into a compression: the chunks, until it ends.
  const writableOf = (sink) => {
    let locked = false, ended = false;
    const open = () => { if (ended) throw new TypeError("the stream has ended"); };
    return {
      get locked() { return locked; },
      getWriter() {
        if (locked) throw new TypeError("the stream has a writer already");
        locked = true;
        return {
          ready: (async () => {})(), desiredSize: 1, releaseLock: () => { locked = false; },
          write: async (chunk) => {
            open();
            try { sink.write(chunk); } catch (why) {
              ended = true;
              sink.abort(why);
              throw why;
            }
          },
          close: async () => { open(); ended = true; sink.close(); },
          abort: async (why) => { ended = true; sink.abort(why); },
        };
      },
    };
  };
  const changing = (name) => class {
    #readable;
    #writable;
    constructor(format) {
      const named = text(format);
      orTypeError("", () => run("web.format", "", [named]));
      const chunks = [];
      let controller;
      this.#readable = new ReadableStream({ start(given) { controller = given; } });
      this.#writable = writableOf({
        write: (chunk) => { chunks[chunks.length] = copyOf(chunk); },
        abort: (why) => controller.error(why),
        close() {
          try {
            const made = orTypeError("", () => run(name, "bytes", [binary(joined(chunks)), named]));
            if (made.length > 0) controller.enqueue(made);
            controller.close();
          } catch (why) {
            controller.error(why);
            throw why;
          }
        },
      });
    }
    get readable() { return this.#readable; }
    get writable() { return this.#writable; }
  };

  let bytesOf;
  class Blob {
    #bytes;
    #type;
    constructor(parts = [], options) {
      const list = [];
      for (const part of parts) {
        list[list.length] = !isObject(part) ? $.utf8(text(part)) : part instanceof Blob ? part.#bytes : copyOf(part);
      }
      this.#bytes = list.length === 1 ? copyOf(list[0]) : joined(list);
      this.#type = apply(toLowerCase, text(options?.type ?? ""), []);
    }
    static { bytesOf = (blob) => blob.#bytes; }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    async text() { return decoded(this.#bytes); }
    async bytes() { return copyOf(this.#bytes); }
    async arrayBuffer() { return copyOf(this.#bytes).buffer; }
    slice(start = 0, end = this.size, type = "") {
      return new Blob([copyOf(apply(subarray, this.#bytes, [start, end]))], { type });
    }
    stream() { return streamOf(() => copyOf(this.#bytes)); }
  }

  // What a `Response` and `fetch` read of them.
  kept.streamed = (body) => {
    if (body instanceof ReadableStream) return { stream: body, bytes: () => allOf(body) };
    if (body instanceof Blob) return { type: body.type, bytes: () => copyOf(bytesOf(body)) };
    return undefined;
  };
  kept.streamOf = streamOf;
  kept.blob = (own, type) => new Blob([own], { type });
  const made = {
    Blob, CompressionStream: changing("web.compress"), DecompressionStream: changing("web.decompress"), ReadableStream, Response,
  };
  for (const name in made) {
    if (made[name] === Response) continue;
    defineProperty(made[name], "name", { value: name, configurable: true });
    defineProperty(made[name].prototype, Symbol.toStringTag, { value: name, configurable: true });
  }
  return made;
})
