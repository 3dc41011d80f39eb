mod fixture;
mod hostile;
mod isolation;
mod limits;
mod modules;
mod requests;
mod scripts;
