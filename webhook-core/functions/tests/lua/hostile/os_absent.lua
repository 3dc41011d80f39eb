-- expect: attempt
os.execute("ls")
