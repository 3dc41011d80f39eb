//! SQLite's own file system with other methods for the log.
#![expect(unsafe_code, reason = "SQLite's file system is an interface of C")]

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::OnceLock,
};

use rusqlite::ffi::{
    self, SQLITE_ERROR, SQLITE_OK, SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL, SQLITE_SHM_EXCLUSIVE,
    SQLITE_SHM_UNLOCK, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_io_methods,
    sqlite3_vfs,
};

use crate::gathered::{Gathered, Next};

/// The most that waits of one log. SQLite's own method for Unix writes less than
/// 128 KiB at once.
const CAPACITY: usize = 127 * 1024;

/// A file system that lives as long as the process. SQLite knows its first field.
#[repr(C)]
struct Vfs {
    vfs: sqlite3_vfs,
    /// SQLite's own.
    below: *mut sqlite3_vfs,
}

/// What an open file adds to its `sqlite3_file`, whose `pMethods` points to the
/// first field.
#[repr(C)]
struct Open<T> {
    methods: sqlite3_io_methods,
    /// SQLite's own.
    below: *const sqlite3_io_methods,
    kind: T,
}

/// A database, whose locks are those of its log as well.
struct Database {
    /// Its log, while that is open; else null.
    log: *mut sqlite3_file,
}

/// The log of a database.
struct Log {
    database: *mut sqlite3_file,
    gathered: Gathered,
}

/// Makes the file system known to SQLite, once.
pub(crate) fn register() -> rusqlite::Result<()> {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    match *REGISTERED.get_or_init(add_to_sqlite) {
        SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

fn add_to_sqlite() -> c_int {
    // SAFETY: it may be called from anywhere; null asks for the default.
    let below = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    if below.is_null() {
        return SQLITE_ERROR;
    }
    // SAFETY: a registered file system is a valid one, and a copy of it has the
    // same contents, which SQLite's functions find in it (`pAppData`).
    let mut vfs = unsafe { *below };
    vfs.iVersion = vfs.iVersion.min(3);
    vfs.pNext = ptr::null_mut();
    vfs.zName = crate::NAME.as_ptr();
    vfs.xOpen = Some(open);
    let vfs = Box::into_raw(Box::new(Vfs { vfs, below }));
    // SAFETY: it is never freed, and its first field is what SQLite wants.
    unsafe { ffi::sqlite3_vfs_register(vfs.cast(), 0) }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls it with the file system that was registered, whose
    // files are as large as those of the one below. A log is opened after its
    // database, by the same file system, and closed before it.
    unsafe {
        let below = (*vfs.cast::<Vfs>()).below;
        let Some(open) = (*below).xOpen else { return SQLITE_ERROR };
        let code = open(below, name, file, flags, out_flags);
        if code != SQLITE_OK {
            return code;
        }
        let below = (*file).pMethods;
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            let methods = sqlite3_io_methods {
                xClose: Some(close_database),
                xShmLock: (*below).xShmLock.and(Some(lock)),
                ..*below
            };
            replace(file, methods, Database { log: ptr::null_mut() });
        } else if flags & SQLITE_OPEN_WAL != 0 {
            let methods = sqlite3_io_methods {
                xClose: Some(close_log),
                xRead: Some(read),
                xWrite: Some(write),
                xTruncate: Some(truncate),
                xSync: Some(sync),
                xFileSize: Some(file_size),
                ..*below
            };
            let database = ffi::sqlite3_database_file_object(name);
            let gathered = Gathered::with_capacity(CAPACITY);
            replace(file, methods, Log { database, gathered });
            (*opened::<Database>(database)).kind.log = file;
        }
        code
    }
}

/// Calls one of SQLite's own methods on a file of a kind.
///
/// The caller vouches that the file is one, as for [`opened`].
macro_rules! below {
    ($kind:ty: $file:expr, $method:ident $(, $argument:expr)*) => {
        match (*(*opened::<$kind>($file)).below).$method {
            Some(method) => method($file $(, $argument)*),
            None => SQLITE_ERROR,
        }
    };
}

/// The same for a log, after what waits of it has been written.
macro_rules! flushed {
    ($file:expr, $method:ident $(, $argument:expr)*) => {
        match flush($file) {
            SQLITE_OK => below!(Log: $file, $method $(, $argument)*),
            code => code,
        }
    };
}

/// What belongs to an open file.
///
/// # Safety
///
/// The file is one that [`open`] opened as one of this kind, and is not closed yet.
unsafe fn opened<T>(file: *mut sqlite3_file) -> *mut Open<T> {
    // SAFETY: `pMethods` is the first field of what `open` made.
    unsafe { (*file).pMethods.cast_mut().cast() }
}

/// Gives an open file other methods, and what these need.
///
/// # Safety
///
/// SQLite's own file system has just opened the file.
unsafe fn replace<T>(file: *mut sqlite3_file, methods: sqlite3_io_methods, kind: T) {
    // SAFETY: the box is freed by `restore`, before the file is closed.
    unsafe {
        let below = (*file).pMethods;
        (*file).pMethods = Box::into_raw(Box::new(Open { methods, below, kind })).cast();
    }
}

/// Makes an open file again what it is below, and returns what belonged to it.
///
/// # Safety
///
/// As for [`opened`], and nobody else uses what belongs to it.
unsafe fn restore<T>(file: *mut sqlite3_file) -> Open<T> {
    // SAFETY: `open` made it as a box.
    unsafe {
        let open = *Box::from_raw(opened::<T>(file));
        (*file).pMethods = open.below;
        open
    }
}

/// Writes what waits of a log. What cannot be written is given up, as its
/// transaction will be.
///
/// # Safety
///
/// As for [`opened`].
unsafe fn flush(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite uses a connection from one thread at a time, and its own
    // methods do not know of what is here.
    unsafe {
        let gathered = &mut (*opened::<Log>(file)).kind.gathered;
        let Some((bytes, at)) = gathered.waiting() else { return SQLITE_OK };
        // Not more than the capacity.
        let length = bytes.len() as c_int;
        let code = below!(Log: file, xWrite, bytes.as_ptr().cast(), length, at);
        gathered.clear();
        code
    }
}

/// Takes and gives back locks, that of who writes first among them. What still waits
/// when it is given back is of a transaction that was taken back, and others write in
/// its place.
unsafe extern "C" fn lock(
    file: *mut sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    /// The first of the locks of a log (WAL-mode file format, section 2.3).
    const WRITE: c_int = 0;
    const RELEASE: c_int = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE;
    // SAFETY: SQLite passes a database that `open` opened, whose log is open if it
    // is not null.
    unsafe {
        let log = (*opened::<Database>(file)).kind.log;
        if first == WRITE && flags & RELEASE == RELEASE && !log.is_null() {
            (*opened::<Log>(log)).kind.gathered.clear();
        }
        below!(Database: file, xShmLock, first, count, flags)
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened, and as many bytes as it says.
    unsafe {
        let bytes = match usize::try_from(length) {
            Ok(length) if length > 0 => std::slice::from_raw_parts(data.cast::<u8>(), length),
            _ => return below!(Log: file, xWrite, data, length, at),
        };
        let next = (*opened::<Log>(file)).kind.gathered.add(bytes, at);
        match next {
            Next::Wait => SQLITE_OK,
            Next::Write => flush(file),
            Next::WriteThrough => flushed!(file, xWrite, data, length, at),
        }
    }
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened.
    unsafe { flushed!(file, xRead, into, length, at) }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened.
    unsafe { flushed!(file, xTruncate, length) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened.
    unsafe { flushed!(file, xSync, flags) }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, length: *mut sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened.
    unsafe { flushed!(file, xFileSize, length) }
}

unsafe extern "C" fn close_log(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite passes a log that `open` opened, for the last time, while its
    // database is open. No transaction is.
    unsafe {
        let log = restore::<Log>(file);
        (*opened::<Database>(log.kind.database)).kind.log = ptr::null_mut();
        (*log.below).xClose.map_or(SQLITE_ERROR, |close| close(file))
    }
}

unsafe extern "C" fn close_database(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite passes a database that `open` opened, for the last time.
    unsafe {
        let database = restore::<Database>(file);
        (*database.below).xClose.map_or(SQLITE_ERROR, |close| close(file))
    }
}
